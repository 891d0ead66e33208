import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { root } from '../../test/support/doc-blocks.js'
import type { Answers } from './answers.js'
import { projectFiles } from './project.js'
import { writeProject } from './write.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-init-'))
const place = { dir: join(dir, 'My Project'), dependency: '^1.0.0' }
const plain: Answers = { have: 'nothing', sdk: 'none', where: 'cpu' }

function rows(text: string | Uint8Array): string {
  const file = join(dir, `${Math.random()}.jsonl`)
  writeFileSync(file, text)
  return file
}

describe('a project', () => {
  it('has a package of its own, with the SDK that was chosen', async () => {
    const files = await projectFiles({ ...plain, have: 'agent', sdk: 'anthropic' }, place)
    const manifest = JSON.parse(textOf(files, 'package.json'))
    expect(manifest.name).toBe('my-project')
    expect(Object.keys(manifest.dependencies)).toEqual(['@anthropic-ai/sdk', 'trinity-rft'])
    expect(files).toContainEqual({ path: 'agent.ts', from: 'templates/agent/anthropic.ts' })
  })

  it.each([
    ['langgraph', '@langchain/'],
    ['ai-sdk', ''],
  ] as const)('of %s holds packages that are peers to what was tried together', async (sdk, family) => {
    const files = await projectFiles({ ...plain, have: 'agent', sdk }, place)
    const { 'trinity-rft': _, ...packages } = JSON.parse(textOf(files, 'package.json')).dependencies
    expect(Object.keys(packages).length).toBeGreaterThan(1)
    for (const [name, range] of Object.entries(packages)) {
      expect(name).toContain(family)
      expect(range, name).toMatch(/^~?\d+\.\d+\.\d+$/)
    }
  })

  it('of data takes the columns by their names', async () => {
    const data = rows('{"id": 1, "problem": "1+1", "solution": "2"}')
    const text = textOf(await projectFiles({ ...plain, have: 'data', data, model: 'org/m' }, place), 'trinity.yaml')
    expect(text).toContain('{ prompt_key: problem, response_key: solution }')
    expect(text).toContain('model_path: "org/m"')
    expect(text).not.toContain('eval_tasksets')
  })

  it('of data in another form takes the columns that are named', async () => {
    const data = join(dir, 'rows.csv')
    writeFileSync(data, 'nr,yes,what it is\n1,1+1,2\n')
    const of = (named: Partial<Answers>) =>
      projectFiles({ ...plain, have: 'data', data, model: 'org/m', ...named }, place)
    const files = await of({ promptKey: 'yes', responseKey: 'what it is' })
    expect(textOf(files, 'trinity.yaml')).toContain('{ prompt_key: "yes", response_key: "what it is" }')
    expect(textOf(files, 'trinity.yaml')).toContain('path: "${config.dir:../rows.csv}"')
    await expect(of({ promptKey: 'no' })).rejects.toThrow(/rows\.csv has no column no$/)
    await expect(of({})).rejects.toThrow(/cannot tell which column of .* holds the questions/)
    await expect(projectFiles({ ...plain, promptKey: 'a' }, place)).rejects.toThrow(/only work with --data/)
    await expect(of({ sdk: 'mastra' })).rejects.toThrow(/does not use an SDK/)
  })

  it('names its model from its own folder, and none that is not there', async () => {
    const model = join(dir, 'models', 'mine')
    mkdirSync(model, { recursive: true })
    const of = async (path: string) =>
      /model_path: (.*)/.exec(textOf(await projectFiles({ ...plain, model: path }, place), 'trinity.yaml'))?.[1]
    await expect(of(model)).rejects.toThrow(/is not a model directory/)
    writeFileSync(join(model, 'config.json'), '{}')
    expect(await of(model)).toBe('"${config.dir:../models/mine}"')
    for (const [most, length] of [
      [undefined, 1024],
      [32768, 1024],
      [128, 128],
    ]) {
      writeFileSync(join(model, 'config.json'), JSON.stringify({ max_position_embeddings: most }))
      expect(textOf(await projectFiles({ ...plain, model }, place), 'trinity.yaml')).toContain(
        `max_model_len: ${length}\n`,
      )
    }
    expect(await of('org/m')).toBe('"org/m"')
    for (const missing of ['./nowhere', '/no/such/model', join(dir, 'models', 'other'), 'a/b/c']) {
      await expect(of(missing)).rejects.toThrow(/there is no model at/)
    }
  })

  it.each([
    ['[1]', /each line of a JSON-lines file must be an object/],
    ['\n\n', /has no rows/],
    ['{"question": "a", "answer": "b"}\n{"broken', /JSON/],
    ['{"text": "a", "answer": "b"}', /holds the questions: text, answer/],
    ['{"question": "a", "reply": "b"}', /holds the answers: question, reply/],
    ['{"question": " ", "answer": "b"}', /this row has no question: question is empty/],
    ['{"question": "a", "answer": 0}\n{"question": "a", "answer": null}', /this row has no answer: answer is empty/],
    ['{"question": "a", "answer": 0}\n{"question": "a"}', /this row has no answer: answer is missing/],
    [Buffer.from('{"question": "Gr\u00fc\u00dfe", "answer": "b"}', 'latin1'), /not UTF-8/],
  ])('of data that begins with %.40j is refused', async (text, message) => {
    const answers: Answers = { ...plain, have: 'data', data: rows(text), model: 'm' }
    await expect(projectFiles(answers, place)).rejects.toThrow(message)
  })

  it('of data in a folder or a file that YAML cannot name is refused', async () => {
    const of = (data: string) => projectFiles({ ...plain, have: 'data', data, model: 'm' }, place)
    await expect(of(dir)).rejects.toThrow(/is a folder, not a file/)
    await expect(of(join(dir, 'nope.csv'))).rejects.toThrow(/there is no file .*nope\.csv/)
    const odd = join(dir, 'a b}#.jsonl')
    writeFileSync(odd, '\uFEFF\n{"question": 1, "answer": 2}')
    await expect(of(odd)).rejects.toThrow(/cannot be written in a configuration/)
  })

  it.each([
    ['模型', 'project'],
    ['--x', 'x'],
    ['A b.c', 'a-b.c'],
  ])('in %s is called %s', async (folder, name) => {
    const files = await projectFiles(plain, { ...place, dir: join(dir, folder) })
    expect(JSON.parse(textOf(files, 'package.json')).name).toBe(name)
  })

  it.each([
    [99, undefined],
    [100, 10],
    [5000, 200],
  ])('of %d rows holds back %s of them to be evaluated on', async (length, held) => {
    const data = rows('{"question": "1+1", "answer": "2"}\n'.repeat(length))
    const text = textOf(await projectFiles({ ...plain, have: 'data', data, model: 'org/m' }, place), 'trinity.yaml')
    const { explorer_input } = parse(text).buffer
    expect(explorer_input.taskset.split).toBe(held && `train[:-${held}]`)
    expect(explorer_input.eval_tasksets?.[0].split).toBe(held && `train[-${held}:]`)
    expect(text.split('\n').length).toBeLessThan(23)
  })

  it('has a page that names the files that it has', async () => {
    const files = await projectFiles(plain, place)
    for (const [, name] of textOf(files, 'README.md').matchAll(/^\| `([\w.]+)\/?`/gm)) {
      if (name !== 'checkpoints') expect(files.map(({ path }) => path)).toContain(name)
    }
    expect(textOf(files, 'README.md')).toContain('`agent.ts`')
  })

  it('of data without a file is refused', async () => {
    await expect(projectFiles({ ...plain, have: 'data' }, place)).rejects.toMatchObject({ path: '--data' })
  })

  it('wants a model where the small one would learn nothing', async () => {
    await expect(projectFiles({ ...plain, where: 'gpu' }, place)).rejects.toThrow(/can only do sums/)
    await expect(projectFiles({ ...plain, have: 'data', data: rows('{}') }, place)).rejects.toThrow(/can only do sums/)
  })

  it('is written whole or not at all', async () => {
    const files = await projectFiles(plain, place)
    await writeProject(place.dir, files, root)
    expect(readFileSync(join(place.dir, '.gitignore'), 'utf8')).toContain('node_modules')
    expect(JSON.parse(readFileSync(join(place.dir, 'model/config.json'), 'utf8'))).toHaveProperty('vocab_size')
    const other = join(dir, 'other')
    mkdirSync(other)
    writeFileSync(join(other, 'trinity.yaml'), 'mine')
    await expect(writeProject(other, files, root)).rejects.toThrow(/already has trinity\.yaml/)
    expect(readFileSync(join(other, 'trinity.yaml'), 'utf8')).toBe('mine')
    await expect(async () => readFileSync(join(other, 'package.json'))).rejects.toThrow()
  })

  it.each(['/proc/a/b', '/dev/null/a'])('in %s, where no folder can be, is an error', async (folder) => {
    await expect(writeProject(folder, [], root)).rejects.toMatchObject({ code: 'init/folder' })
  })

  it('that cannot be written as a whole leaves nothing, and the same command can be given again', async () => {
    const folder = join(dir, 'above', 'half')
    const half = [
      { path: 'a.txt', text: 'a' },
      { path: 'b', from: 'no/such/template' },
    ]
    await expect(writeProject(folder, half, root)).rejects.toMatchObject({ code: 'init/folder', path: folder })
    expect(existsSync(join(dir, 'above'))).toBe(false)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'mine.txt'), '')
    await expect(writeProject(folder, half, root)).rejects.toMatchObject({ code: 'init/folder' })
    expect(readdirSync(folder)).toEqual(['mine.txt'])
    await writeProject(folder, half.slice(0, 1), root)
    expect(readdirSync(folder)).toEqual(['a.txt', 'mine.txt'])
  })
})

function textOf(files: Awaited<ReturnType<typeof projectFiles>>, path: string): string {
  const file = files.find((one) => one.path === path)
  return file && 'text' in file ? file.text : ''
}
