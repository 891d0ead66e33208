import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ExperienceView } from '../buffer/index.js'
import type { SampleRequest } from '../engine/contract.js'
import { MockEngine } from '../engine/mock/engine.js'
import { createModel, Tokenizer } from '../model/index.js'
import { debugSocket } from '../run/debug/socket.js'
import { workflows } from '../workflow/index.js'
import { debug } from './debug.js'

let dir: string
let config: string
let opened = 0
let requests: SampleRequest[] = []
let vocabSize = 0

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-debug-'))
  config = join(dir, 'run.yaml')
  await createModel({ out: join(dir, 'model'), layers: 1, hidden: 16, heads: 2, maxPositions: 256 })
  await createModel({ out: join(dir, 'scorer'), layers: 1, hidden: 16, heads: 2, maxPositions: 256, head: 'sequence' })
  vocabSize = (await Tokenizer.load(join(dir, 'model'))).vocabSize
  await writeFile(join(dir, 'tasks.jsonl'), '{"q": "one?", "a": "1"}\n{"q": "two?", "a": "2"}\n')
  await writeFile(
    config,
    `
project: p
name: n
checkpoint_root_dir: ${dir}/out
model: {model_path: ${dir}/model, max_model_len: 256}
algorithm: {algorithm_type: grpo, repeat_times: 4}
buffer:
  batch_size: 1
  explorer_input:
    taskset:
      path: ${dir}/tasks.jsonl
      default_workflow_type: debug_test
      format: {prompt_key: q, response_key: a}
explorer:
  rollout_model: {engine_type: mock, engine_num: 3}
  auxiliary_models: [{name: scorer, model_path: ${dir}/scorer, engine_type: mock}]
`,
  )
  workflows.add('debug_test', async ({ model, task, auxiliary, logger }) => {
    logger.info(`asking ${task.taskDesc}`)
    const [answer] = await model.chat([{ role: 'user', content: String(task.taskDesc) }], { max_tokens: 8 })
    if (task.truth === '2') throw new Error('two is too many')
    await model.logprobs(answer.tokens)
    ;[answer.reward] = await auxiliary.reward('scorer').ofTokens([answer.tokens])
    return answer
  })
})
afterAll(() => rm(dir, { recursive: true, force: true }))

const openEngine = async () => {
  opened++
  return new MockEngine({
    vocabSize,
    eos: 1,
    reward: (tokens) => tokens.length,
    reply: (request) => {
      requests.push(request)
      return undefined
    },
  })
}

async function run(module: string, more: object = {}, signal = new AbortController().signal) {
  const lines: string[] = []
  const outputDir = join(dir, 'output')
  const print = (line: string) => void lines.push(line)
  const code = await debug({ config, module, outputDir, task: '0', ...more }, { openEngine, print, signal })
  return { code, text: lines.join('\n') }
}

describe('trinity debug', () => {
  it('workflow: without a server it opens the models itself, runs one task once and stores the result', async () => {
    const { code, text } = await run('workflow')
    expect(code).toBe(0)
    expect(text).toContain('no debug server is running')
    expect(text).toContain('asking one?')
    expect(text).toMatch(/experience debug\/0\/0\/0\/[0-9a-f]{6}: reward \d+/)
    const view = await ExperienceView.open(`sqlite:///${dir}/output/experiences.db`)
    expect(await view.tables()).toEqual(['debug_buffer'])
    const [{ experience }] = await view.query('debug_buffer')
    expect(experience.promptText).toContain('one?')
    expect(experience.reward).toBe(experience.tokens.length)
    await view.close()
  })

  it('inference_model: serves the models; workflows use them as often as wanted, with the same result', async () => {
    const stop = new AbortController()
    const serving = run('inference_model', {}, stop.signal)
    for (let i = 0; i < 200 && !existsSync(debugSocket(config)); i++) await new Promise((r) => setTimeout(r, 10))
    opened = 0
    requests = []
    const first = await run('workflow')
    const second = await run('workflow', { outputFile: join(dir, 'own.db') })
    expect([first.code, second.code, opened]).toEqual([0, 0, 0])
    expect(first.text).toContain('using the models of the debug server')
    expect(requests).toHaveLength(2)
    expect(requests[0].prompt).toBeInstanceOf(Int32Array)
    const experience = (text: string) => text.slice(text.indexOf('experience '), text.indexOf('metrics'))
    expect(experience(second.text)).toBe(experience(first.text))
    expect(existsSync(join(dir, 'own.db'))).toBe(true)
    await expect(run('inference_model')).rejects.toThrow(/already served/)
    stop.abort()
    const { code, text } = await serving
    expect(code).toBe(0)
    expect(text).toContain('auxiliary scorer')
    expect((await run('workflow')).text).toContain('no debug server is running')
  })

  it('a workflow that fails is an exit code of 1, with the stack', async () => {
    const { code, text } = await run('workflow', { task: '1' })
    expect(code).toBe(1)
    expect(text).toContain('workflow_error: two is too many')
    expect(text).toContain('debug.test.ts')
    await expect(run('workflow', { task: '7' })).rejects.toThrow(/there is no task 7/)
    await expect(run('viewers')).rejects.toMatchObject({ code: 'cli/debug' })
  })

  it('the viewer shows what the workflow wrote', async () => {
    const page = join(dir, 'page')
    await mkdir(page, { recursive: true })
    await writeFile(join(page, 'index.html'), '<!doctype html>')
    const printed: string[] = []
    const world = { print: (line: string) => printed.push(line), signal: AbortSignal.abort(), page }
    const options = { config, module: 'viewer', outputDir: join(dir, 'output'), task: '0', port: '0' }
    expect(await debug(options, world)).toBe(0)
    expect(printed[0]).toContain(join(dir, 'output', 'experiences.db'))
    await expect(debug({ ...options, outputDir: join(dir, 'nothing') }, world)).rejects.toMatchObject({
      code: 'cli/debug',
      hint: expect.stringContaining('--module workflow'),
    })
  })

  it('keeps what was there when told to, and profiles', async () => {
    const { text } = await run('workflow', { disableOverwrite: true, enableProfiling: true })
    const file = /written to (.*), table/.exec(text)![1]
    expect(file).toMatch(/output_\d{14}/)
    expect(existsSync(join(file, '..', 'workflow.cpuprofile'))).toBe(true)
  })
})
