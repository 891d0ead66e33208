import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { makeData } from '../../../test/support/made-data.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { testData } from '../../../test/support/test-data.js'
import { evalSets, filesBelow } from './eval-sets.js'
import { plainQuestion } from './problems.js'

/** Nothing is downloaded here. */
beforeEach(() => void vi.stubEnv('HF_HUB_OFFLINE', '1').stubEnv('HF_HOME', '/nowhere'))
afterEach(() => void vi.unstubAllEnvs())

async function folderOf(files: Record<string, object[]>): Promise<string> {
  const dir = await tempDir()
  for (const [name, rows] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true })
    await writeFile(join(dir, name), rows.map((row) => JSON.stringify(row)).join('\n'))
  }
  return dir
}
const sums = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ problem: `What is ${i + from} + 1?`, answer: i + from + 1 }))

describe('gsm8k', () => {
  it('takes over both files as they are', async () => {
    const row = { question: 'Ducks?', answer: 'Three.\n#### 3' }
    const made = await makeData('gsm8k', { from: await folderOf({ 'train.jsonl': [row, row], 'test.jsonl': [row] }) })
    expect([made.rows('train.jsonl'), made.rows('test.jsonl')]).toEqual([[row, row], [row]])
    expect(made.yaml).toContain(`path: ${made.folder}`)
  })

  it('says how to get it where nothing can be downloaded', async () => {
    await expect(makeData('gsm8k', {})).rejects.toMatchObject({
      code: 'hub/offline',
      hint: 'where there is access: hf download openai/gsm8k --repo-type dataset --local-dir gsm8k; then here: trinity data gsm8k --from gsm8k',
    })
  })
})

describe('math', () => {
  it('makes question and answer of every form, and leaves out what has no answer', async () => {
    const chat = (content: string, ground_truth: unknown) => ({
      prompt: [{ role: 'user', content }],
      reward_model: { ground_truth },
    })
    const from = await folderOf({
      'train.jsonl': [
        chat("Find x. Let's think step by step and output the final answer within \\boxed{}.", { target: '5' }),
        chat('Find nothing.', { target: '' }),
      ],
      'math500.jsonl': [{ problem: 'Area?', solution: 'It is \\boxed{2}.', level: 3 }],
    })
    const made = await makeData('math', { from })
    expect(made.rows('train.jsonl')).toEqual([{ question: 'Find x.', answer: '5' }])
    expect(made.rows('test.jsonl')).toEqual([
      { question: 'Area?', answer: '2', level: 3, solution: 'It is \\boxed{2}.' },
    ])
    expect(made.said).toEqual([expect.stringContaining('1 rows without a question or a right answer')])
  })
})

describe('dapo', () => {
  it('holds problems out where there is no test, each problem once', async () => {
    const from = join(await folderOf({ 'all.jsonl': [...sums(50), ...sums(50)] }), 'all.jsonl')
    const made = await makeData('dapo', { from, test: 10 })
    const questions = (file: string) => made.rows(file).map(({ question }) => question)
    expect([made.rows('train.jsonl').length, made.rows('test.jsonl').length]).toEqual([40, 10])
    expect(new Set([...questions('train.jsonl'), ...questions('test.jsonl')]).size).toBe(50)
    const again = await makeData('dapo', { from, test: 10, seed: 1 })
    expect(again.rows('test.jsonl')).not.toEqual(made.rows('test.jsonl'))
    await expect(makeData('dapo', { from, test: 50 })).rejects.toThrow('--test: of 50 problems 50 cannot be held out')
  })

  it('keeps a test split, and what is in it out of the training data', async () => {
    const made = await makeData('dapo', {
      from: await folderOf({ 'train.jsonl': sums(30), 'test.jsonl': sums(5, 28) }),
    })
    expect([made.rows('train.jsonl').length, made.rows('test.jsonl').length]).toEqual([28, 5])
  })
})

describe('math_eval', () => {
  const FILES = {
    'math_eval/aime24.jsonl': sums(30),
    'math_eval/minerva_math.jsonl': sums(2),
    'gsm8k/test.jsonl': sums(2),
    'gsm8k/train.jsonl': sums(9),
    'math/math500.jsonl': sums(2),
    'dapo/test.jsonl': sums(2),
    'deep/er/OlympiadBench/test-00000-of-00001.jsonl': sums(2),
  }

  it('finds the files of the sets by their names', async () => {
    const files = await filesBelow([await folderOf(FILES)])
    const found = evalSets.flatMap(({ name, files: called }) => {
      const file = files.find(({ stem }) => called.test(stem))
      return file ? [`${name} ${file.stem.split('/').slice(-2).join('/')}`] : []
    })
    expect(found).toEqual([
      'dapo dapo/test',
      'gsm8k gsm8k/test',
      'math500 math/math500',
      'aime24 math_eval/aime24',
      'minervamath math_eval/minerva_math',
      'olympiadbench olympiadbench/test',
    ])
  })

  it('writes what is there, names what is missing, and goes on with it later', async () => {
    const folder = join(await tempDir(), 'eval')
    const from = [await folderOf(FILES)]
    const made = makeData('math_eval', { from }, folder)
    await expect(made).rejects.toMatchObject({
      code: 'dataset/incomplete',
      message: expect.stringMatching(
        /^2 of 8 sets are missing: aime25 \(.*hf download weijiezz\/math-datasets-100k.*; amc23/,
      ),
    })
    from.push(await folderOf({ 'test_aime25.jsonl': sums(30), 'amc_2023.jsonl': sums(3) }))
    const whole = await makeData('math_eval', { from }, folder)
    expect(whole.files.map(({ file, kept }) => [file, kept])).toEqual([
      ['dapo.jsonl', true],
      ['gsm8k.jsonl', true],
      ['math500.jsonl', true],
      ['aime24.jsonl', true],
      ['aime25.jsonl', false],
      ['amc23.jsonl', false],
      ['minervamath.jsonl', true],
      ['olympiadbench.jsonl', true],
    ])
    expect(whole.said).toContainEqual(expect.stringContaining('amc23: 3 problems, while the set has 40'))
    expect(whole.said.filter((text) => text.includes('aime'))).toEqual([])
  })

  it('makes some of them', async () => {
    const made = await makeData('math_eval', { from: [await folderOf(FILES)], sets: ['aime24'] })
    expect(made.files.map(({ file }) => file)).toEqual(['aime24.jsonl'])
    expect(made.yaml).not.toContain('gsm8k')
  })

  const shared = testData('math_eval')
  it.skipIf(shared.absent)(`makes those of real files${shared.note}`, async () => {
    const sets = ['gsm8k', 'math500', 'aime24', 'aime25', 'amc23', 'minervamath', 'olympiadbench']
    const made = await makeData('math_eval', { from: [dirname(shared.path)], sets })
    expect([made.said, made.files.map(({ rows }) => rows)]).toEqual([[], [1319, 500, 30, 30, 40, 272, 675]])
  })
})

it.each([
  [
    'Solve the following math problem step by step. The last line is Answer: $Answer.\n\nFind x.\n\nRemember to put your answer on its own line after "Answer:".',
    'Find x.',
  ],
  ['Solve x = 2.', 'Solve x = 2.'],
])('%j is the question %j', (text, question) => {
  expect(plainQuestion(text)).toBe(question)
})
