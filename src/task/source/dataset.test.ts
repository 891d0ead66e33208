import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testData } from '../../../test/support/test-data.js'
import { columnOf } from '../column.js'
import { openDataset } from './dataset.js'
import { globMatcher } from './glob.js'
import { openDataFile } from './open-file.js'
import { parseSplit, sliceOf } from './split.js'

let root: string
let count = 0
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'trinity-test-'))
})
afterAll(() => rm(root, { recursive: true, force: true }))

/** A directory with these files; a number stands for JSON lines { n: number }. */
async function tree(files: Record<string, string | number[]>): Promise<string> {
  const dir = join(root, `set${count++}`)
  for (const [name, content] of Object.entries(files)) {
    const path = join(dir, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, typeof content === 'string' ? content : content.map((n) => JSON.stringify({ n })).join('\n'))
  }
  return dir
}

async function numbers(path: string, split?: string, subset_name?: string): Promise<unknown[]> {
  const source = await openDataset({ path, split, subset_name })
  const found: unknown[] = []
  for await (const row of source.scan()) found.push(row.n)
  const single = await Promise.all(found.map(async (_, i) => (await source.row(i)).n))
  await source.close()
  expect(single).toEqual(found)
  return found
}

describe('directories', () => {
  it('finds splits by the names of files and folders', async () => {
    const dir = await tree({
      'train.jsonl': [1],
      'gsm8k-test.jsonl': [2],
      'dev/part-1.jsonl': [3],
      'dev/part-2.jsonl': [4],
      'README.md': '# no front matter',
      'dataset_infos.json': '{"default":{"features":{"n":{"_type":"Value"}}}}',
      '.cache/train.jsonl': [9],
    })
    expect(await numbers(dir)).toEqual([1])
    expect(await numbers(dir, 'test')).toEqual([2])
    expect(await numbers(dir, 'validation')).toEqual([3, 4])
  })

  it('reads shards in order, with split names of any kind', async () => {
    const dir = await tree({
      'data/train_sft-00001-of-00002.jsonl': [3],
      'data/train_sft-00000-of-00002.jsonl': [1, 2],
      'data/test-00000-of-00001-abc123.jsonl': [4],
    })
    expect(await numbers(dir, 'train_sft')).toEqual([1, 2, 3])
    expect(await numbers(dir, 'test')).toEqual([4])
    await expect(numbers(dir, 'train')).rejects.toMatchObject({ code: 'data/split', hint: 'found: test, train_sft' })
  })

  it('takes everything as train when no name says anything, and a file by its own name', async () => {
    const dir = await tree({ 'math500.jsonl': [1], 'aime.jsonl': [2] })
    expect(await numbers(dir)).toEqual([2, 1])
    expect(await numbers(dir, 'math500')).toEqual([1])
  })

  it('takes a folder as the subset', async () => {
    const dir = await tree({ 'main/train-00000-of-00001.jsonl': [1], 'socratic/train-00000-of-00001.jsonl': [2] })
    expect(await numbers(dir, 'train', 'socratic')).toEqual([2])
    await expect(numbers(dir, 'train', 'mian')).rejects.toMatchObject({
      hint: "did you mean 'main'? found: main, socratic",
    })
  })

  it('follows the configs of the data card', async () => {
    const dir = await tree({
      'README.md':
        '---\nlicense: mit\nconfigs:\n- config_name: main\n  default: true\n  data_files:\n  - split: train\n    path: main/tr*\n' +
        '  - split: test\n    path: [main/te*, extra/**/*.jsonl]\n- config_name: other\n  data_files: other/*.jsonl\n---\n# Card',
      'main/tr.jsonl': [1],
      'main/te.jsonl': [2],
      'extra/deep/x.jsonl': [3],
      'other/a.jsonl': [4],
    })
    expect(await numbers(dir)).toEqual([1])
    expect(await numbers(dir, 'test')).toEqual([2, 3])
    expect(await numbers(dir, 'train', 'other')).toEqual([4])
    await expect(numbers(dir, 'train', 'nope')).rejects.toThrow("no subset 'nope'")
  })

  it('asks for a subset when the card has several and no default', async () => {
    const dir = await tree({
      'README.md':
        '---\nconfigs:\n- config_name: a\n  data_files: a.jsonl\n- config_name: b\n  data_files: b.jsonl\n---\n',
      'a.jsonl': [1],
      'b.jsonl': [2],
    })
    await expect(numbers(dir)).rejects.toMatchObject({ hint: 'set subset_name to one of a, b' })
  })

  it('reads what save_to_disk of Hugging Face datasets writes, whole or one split of it', async () => {
    const saved = fileURLToPath(new URL('./fixture/saved', import.meta.url))
    const train = await openDataset({ path: saved })
    expect(train.length).toBe(5)
    expect(await train.row(4)).toEqual({
      question: 'What is 4 + 4?',
      answer: '8',
      level: 4,
      score: 1,
      tags: ['a'],
      meta: { id: '9007199254740996', ok: true },
    })
    await train.close()
    const lengthOf = async (path: string, split?: string) => {
      const source = await openDataset({ path, split })
      await source.close()
      return source.length
    }
    expect(await lengthOf(saved, 'test')).toBe(2)
    const copy = join(root, 'one')
    await cp(join(saved, 'train'), copy, { recursive: true })
    expect(await lengthOf(copy)).toBe(5)
    await expect(openDataset({ path: saved, split: 'dev' })).rejects.toMatchObject({ hint: 'found: train, test' })
  })

  it('says which file of a saved data set is damaged', async () => {
    const dir = await tree({ 'dataset_dict.json': '{"splits":["train"]}', 'train/state.json': '{' })
    await expect(numbers(dir)).rejects.toMatchObject({
      code: 'data/malformed',
      message: expect.stringContaining('train/state.json'),
    })
  })

  it.each([
    ['dataset_dict.json', { splits: 'train' }],
    ['dataset_dict.json', { splits: [{}] }],
    ['dataset_dict.json', { splits: ['../other'] }],
    ['train/state.json', { _data_files: { filename: 'a.arrow' } }],
    ['train/state.json', { _data_files: [{ filename: '../../a.arrow' }] }],
    ['train/state.json', { _data_files: [{ filename: 1 }] }],
  ])('refuses %s of a saved data set with %j', async (name, content) => {
    const files = {
      'dataset_dict.json': '{"splits":["train"]}',
      'train/state.json': '{}',
      [name]: JSON.stringify(content),
    }
    await expect(numbers(await tree(files))).rejects.toMatchObject({
      code: 'data/malformed',
      message: expect.stringContaining(`cannot read ${name}`),
    })
  })

  it('follows links to folders, but not in circles', async () => {
    const target = await tree({ 'train.jsonl': [1] })
    const dir = await tree({ 'test.jsonl': [2] })
    await symlink(target, join(dir, 'linked'))
    await symlink(dir, join(target, 'back'))
    expect(await numbers(dir)).toEqual([1])
  })

  it('reads the files that a pattern stands for', async () => {
    const dir = await tree({
      'a/part-1.jsonl': [1],
      'a/part-2.jsonl': [2],
      'b/part-3.jsonl': [3],
      'a/other.jsonl': [4],
    })
    expect(await numbers(join(dir, 'a/part-*.jsonl'))).toEqual([1, 2])
    expect(await numbers(join(dir, '**/part-[23].jsonl'), 'train[1:]')).toEqual([3])
    await expect(numbers(join(dir, 'c-*.jsonl'))).rejects.toMatchObject({ code: 'data/not-found' })
  })

  it('refuses one split in two formats', async () => {
    await expect(numbers(await tree({ 'train.jsonl': [1], 'train.csv': 'n\n1' }))).rejects.toMatchObject({
      code: 'data/ambiguous',
    })
  })

  it('says what is missing', async () => {
    await expect(numbers(await tree({ 'notes.txt': '' }))).rejects.toThrow('no data files found')
    await expect(numbers(await tree({ 'train.jsonl': '\n\n' }))).rejects.toMatchObject({ code: 'data/empty' })
    await expect(numbers(join(root, 'nowhere/at/all'))).rejects.toMatchObject({ code: 'data/not-found' })
    const dir = await tree({ 'train.jsonl': [1] })
    await expect(numbers(`${dir}/trian.jsonl`)).rejects.toMatchObject({ hint: `did you mean '${dir}/train.jsonl'?` })
    await symlink('nothing', join(dir, 'test.jsonl'))
    await expect(numbers(`${dir}/test.jsonl`)).rejects.toMatchObject({
      hint: expect.not.stringMatching(/did you mean '.*test\.jsonl'/),
    })
    await expect(numbers('/dev/null')).rejects.toMatchObject({
      code: 'data/unsupported',
      hint: expect.stringContaining('write them to a file first'),
    })
    await mkdir(join(dir, 'd.jsonl'))
    await expect(openDataFile(join(dir, 'd.jsonl'))).rejects.toMatchObject({
      code: 'data/unreadable',
      path: join(dir, 'd.jsonl'),
      hint: 'give the path of a file',
    })
  })
})

describe('splits', () => {
  it('slices and adds', async () => {
    const dir = await tree({ 'train.jsonl': [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 'test.jsonl': [10, 11] })
    expect(await numbers(dir, 'train[:3]')).toEqual([0, 1, 2])
    expect(await numbers(dir, 'train[-2:]')).toEqual([8, 9])
    expect(await numbers(dir, 'train[10%:30%]')).toEqual([1, 2])
    expect(await numbers(dir, 'train[8:]+test')).toEqual([8, 9, 10, 11])
    expect(await numbers(`${dir}/train.jsonl`, 'train[:2]')).toEqual([0, 1])
    await expect(numbers(dir, 'train[5:5]')).rejects.toMatchObject({ code: 'data/empty' })
    await expect(numbers(dir, 'train[a]')).rejects.toMatchObject({ code: 'data/split' })
  })

  it('rounds per cents to the nearest row and stays inside', () => {
    const slice = (text: string, length: number) => sliceOf(parseSplit(text)[0], length)
    expect(slice('t[33%:66%]', 10)).toEqual({ start: 3, end: 7 })
    expect(slice('t[:200]', 10)).toEqual({ start: 0, end: 10 })
    expect(slice('t[-20:5]', 10)).toEqual({ start: 0, end: 5 })
    expect(slice('t[7:3]', 10)).toEqual({ start: 7, end: 7 })
  })
})

it('refuses a glob with a range that is none', () => {
  const refused = expect.objectContaining({ code: 'data/pattern', message: expect.stringContaining('[z-a]') })
  expect(() => globMatcher('data/[z-a].jsonl')).toThrow(refused)
})

it('globs', () => {
  const matches = (glob: string, path: string) => globMatcher(glob)(path)
  expect(matches('data/train-*', 'data/train-00000.parquet')).toBe(true)
  expect(matches('*.parquet', 'data/x.parquet')).toBe(false)
  expect(matches('**/*.parquet', 'x.parquet')).toBe(true)
  expect(matches('a/**', 'a/b/c.json')).toBe(true)
  expect(matches('x.{json,csv}', 'x.csv')).toBe(true)
  expect(matches('part-[0-9].csv', 'part-7.csv')).toBe(true)
  expect(matches('part-?.csv', 'part-77.csv')).toBe(false)
  expect(matches('part-[!0-9].csv', 'part-7.csv')).toBe(false)
  expect(matches('{train-*,test}/**/x?.csv', 'train-1/a/b/x2.csv')).toBe(true)
  expect(matches('a**b/**/c*', 'a/1/b/c')).toBe(true)
  expect(matches('a*b*b', 'a/b')).toBe(false)
})

it('takes a glob of any length, with many wildcards', () => {
  const path = `${'a/'.repeat(40)}b`
  expect(globMatcher(`${'**/'.repeat(2000)}c`)(path)).toBe(false)
  expect(globMatcher(`${'a*'.repeat(2000)}c`)('a'.repeat(1000))).toBe(false)
  expect(globMatcher('x'.repeat(200_000))(path)).toBe(false)
  expect(globMatcher(`${'**/'.repeat(2000)}b`)(path)).toBe(true)
})

const real = testData('.')
describe.skipIf(real.absent)(`real data sets${real.note}`, () => {
  it.each([
    ['gsm8k', 'train', 7473, 'question'],
    ['gsm8k', 'test', 1319, 'answer'],
    ['math/train_verl.parquet', 'train', 7500, 'prompt'],
    ['math', 'math500', 500, 'problem'],
    ['dapo_math/dapo_math_17k.parquet', 'train', 17917, 'reward_model'],
    ['countdown/tinyzero_test.parquet', 'train', 2000, 'nums'],
    ['trinity_fixtures/geometry', 'train', 8, 'images'],
    ['trinity_fixtures/sft_for_gsm8k', 'train', 8, 'response'],
  ])('%s %s: %i rows', async (path, split, length, column) => {
    const source = await openDataset({ path: join(real.path, path), split })
    expect(source.length).toBe(length)
    expect(await source.row(length - 1)).toHaveProperty(column)
    await source.close()
  })

  it.each([
    ['dapo_math/dapo_math_17k.parquet', 'prompt[0].content', 'reward_model.ground_truth'],
    ['math/train_verl.parquet', 'prompt[0].content', 'reward_model.ground_truth'],
    ['countdown/tinyzero_test.parquet', 'prompt[0].content', 'reward_model.ground_truth.target'],
  ])('%s: keys lead into nested columns', async (path, prompt, truth) => {
    const source = await openDataset({ path: join(real.path, path) })
    const row = await source.row(source.length - 1)
    expect(columnOf(row, prompt)).toEqual(expect.stringMatching(/\S/))
    expect(columnOf(row, truth)).toEqual(expect.anything())
    await source.close()
  })
})
