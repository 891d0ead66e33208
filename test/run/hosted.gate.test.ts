import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MockEngine } from '../../src/engine/mock/engine.js'
import { type OpenEngine, openEngine } from '../../src/engine/registry.js'
import { Gateway } from '../../src/gateway/index.js'
import { workflows } from '../../src/workflow/index.js'
import { modelOf, speaker } from '../support/workflow-kit.js'
import { Bench } from './kit.js'

/** The service is our own gateway: another program's side of the same API. */
const KEY = 'sk-hosted-run-271828'
let bench: Bench
let gateway: Gateway
let says: (prompt: string) => string

beforeAll(async () => {
  bench = await Bench.make()
  const sampler = await speaker((prompt) => says(prompt))
  const open = () => ({ model: modelOf(sampler, { name: 'big' }) })
  gateway = await Gateway.open({ port: 0, apiKey: KEY, visitors: { open, models: ['big'] } })
  process.env.TEST_BIG_URL = `${gateway.url}/v1`
  process.env.TEST_BIG_KEY = KEY
})
afterAll(async () => {
  await gateway.close()
  bench.remove()
  delete process.env.TEST_BIG_URL
  delete process.env.TEST_BIG_KEY
})

let name: string
let count = 0
beforeEach(() => {
  name = `hosted${++count}`
})

const WHERE = '{model_name: big, base_url_env: TEST_BIG_URL, api_key_env: TEST_BIG_KEY, max_retries: 1}'
const engines: OpenEngine = async (which, ...rest) =>
  which === 'openai' ? openEngine(which, ...rest) : new MockEngine({ vocabSize: 24, eos: 1, maxModelLen: 64 })
const run = (keys: Record<string, unknown>) => bench.run({ name, ...keys }, { openEngine: engines })
const evaluated = (workflow: string, more = {}) =>
  run({
    mode: 'bench',
    'explorer.rollout_model.engine_type': 'external',
    'model.external_model': WHERE.replace('{', '{enable: true, '),
    'model.max_response_tokens': 200,
    'buffer.explorer_input.eval_tasksets[0].default_workflow_type': workflow,
    ...more,
  })
/** Everything that the run has written. */
const written = () =>
  readdirSync(bench.job(name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'latin1'))
    .join('\n')

workflows.add('hosted_turns', async ({ task, model }) => {
  const messages: { role: string; content: string }[] = [{ role: 'user', content: String(task.raw.q) }]
  for (const more of ['and?', 'sure?']) {
    const [{ responseText = '' }] = await model.chat(messages)
    messages.push({ role: 'assistant', content: responseText }, { role: 'user', content: more })
  }
  return { ...model.toExperience(), reward: messages[3].content === 'said 2' ? 1 : 0 }
})
workflows.add('hosted_tools', async ({ model }) => {
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
  const messages = [{ role: 'user' as const, content: 'use it' }]
  const stream = await model.openai().chat.completions.create({ messages, tools, stream: true } as never)
  let text = ''
  for await (const { choices } of stream as never as AsyncIterable<{ choices: { delta: object }[] }>) {
    text += JSON.stringify(choices[0]?.delta ?? {})
  }
  return { ...model.toExperiences()[0], reward: text.includes('"name":"look"') ? 1 : 0 }
})
workflows.add('hosted_judge', async ({ model, auxiliary }) => {
  const [answer] = await model.generate('1+1=')
  const [verdict] = await auxiliary.chat('judge').chat([{ role: 'user', content: 'how good?' }], { n: 1 })
  return { ...answer, reward: Number(verdict.responseText) }
})

describe('mode bench with a hosted model', () => {
  it('evaluates it over several turns, which stay one sequence, and counts what it costs', async () => {
    says = (prompt) => `said ${prompt.split('<|assistant|>').length - 1}`
    const { view } = await evaluated('hosted_turns')
    const results = JSON.parse(readFileSync(bench.job(name, 'bench', 'results.json'), 'utf8'))
    expect(results).toMatchObject({ model: 'big', results: [{ step: 0, path: 'big' }] })
    expect(results.results[0].tasksets.held).toMatchObject({ tasks: 24, failed_runs: 0, score: 1 })
    const [metrics] = bench.metrics('benchmark', name)
    expect(metrics).toMatchObject({ 'hosted/big/requests': 49, 'hosted/big/retries': 0 })
    expect(metrics['hosted/big/completion_tokens']).toBeGreaterThan(24 * 2 * 6)
    expect(view.notes).toContainEqual(expect.stringMatching(/^big: 49 requests, \d+ prompt tokens, \d+ completion/))
    expect(written() + view.notes.join()).not.toContain(KEY)
  })

  it('has tools and streams through the client of a workflow', async () => {
    says = () => 'Wait. <tool_call>{"name": "look", "arguments": {"at": 1}}</tool_call>'
    await evaluated('hosted_tools')
    expect(bench.metrics('benchmark', name)[0]['bench/held/reward/mean@1']).toBe(1)
  })

  it('stops at once with a wrong key, which nothing shows', async () => {
    process.env.TEST_BIG_KEY = 'sk-wrong-1234567'
    const error = await evaluated('hosted_turns').catch((thrown) => thrown)
    process.env.TEST_BIG_KEY = KEY
    expect(error).toMatchObject({ code: 'engine/openai/unauthorized', hint: 'look at the key' })
    expect(written() + JSON.stringify(error)).not.toContain('sk-wrong')
  })
})

describe('a hosted model beside the one that is trained', () => {
  it('judges', async () => {
    says = () => '0.75'
    const judge = `[{name: judge, engine_type: openai, external_model_config: ${WHERE}}]`
    const workflow = { 'buffer.explorer_input.taskset.default_workflow_type': 'hosted_judge' }
    await run({ ...workflow, 'explorer.auxiliary_models': judge, 'buffer.total_steps': 2, 'explorer.eval_interval': 0 })
    const steps = bench.metrics('explorer', name).filter((step) => 'hosted/judge/requests' in step)
    expect(steps.map((step) => step['hosted/judge/requests'])).toEqual([1, 5, 9])
    expect(steps[1]['rollout/reward/mean']).toBe(0.75)
  })

  it('is never trained', async () => {
    const wrong = { 'explorer.rollout_model.engine_type': 'openai', 'model.external_model': WHERE }
    await expect(run(wrong)).rejects.toThrow(/a hosted model can only be evaluated/)
  })
})
