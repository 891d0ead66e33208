import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tempDir } from '../../../test/support/temp-dir.js'
import type { ApiError, ChatPart, ChatReply, ModelList, TasksetList, TryAnswer } from '../api.js'
import { here } from '../child/serve.js'
import { runId } from '../run/find.js'
import { Visitor } from '../visitor.fixture.js'
import { deskWork } from '../write/desk.js'
import { playerWork } from './player.js'
import { Players } from './players.js'

const base = resolve('examples/quickstart/model')
const tasks = resolve('examples/quickstart/countdown')
let folder: string
let run: string
let weights: string
let visitor: Visitor

beforeAll(async () => {
  folder = await tempDir()
  const dir = join(folder, 'p', 'n')
  weights = join(dir, 'global_step_4', 'actor', 'huggingface')
  await mkdir(join(dir, '.trinity'), { recursive: true })
  await cp(base, weights, { recursive: true })
  await writeFile(join(dir, 'global_step_4', 'weights.json'), '{}')
  const set = {
    name: 'puzzles',
    path: tasks,
    format: { prompt_key: 'question', response_key: 'answer' },
    default_workflow_type: 'simple_workflow',
    default_reward_fn_type: 'countdown_reward',
  }
  const config = {
    algorithm: { algorithm_type: 'grpo' },
    model: { model_path: base, max_prompt_tokens: 32, max_response_tokens: 16 },
    explorer: { rollout_model: { engine_type: 'native' } },
    buffer: {
      explorer_input: {
        tasksets: [set],
        eval_tasksets: ['held-out', 'others'].map((name) => ({ ...set, name, split: 'test' })),
      },
    },
  }
  const record = { pid: 1, host: 'h', began: '2026-01-01', expects: {}, config }
  await writeFile(join(dir, '.trinity', 'run-both.json'), JSON.stringify(record))
  run = runId(dir)
  visitor = await Visitor.open({
    folders: [folder],
    program: ['trinity'],
    desk: here(deskWork([])),
    players: new Players(() => here(playerWork())),
  })
})
afterAll(() => visitor.close())

describe('the playground', () => {
  it('offers the checkpoints of runs and what they began with', async () => {
    const { models } = await visitor.get<ModelList>('/models')
    expect(models.find(({ step }) => step === undefined)).toMatchObject({
      path: base,
      name: 'quickstart/model',
      run,
    })
    expect(models.find(({ path }) => path === weights)).toMatchObject({ name: 'step 4', run })
  })

  it('talks, and shows what each token might have been', async () => {
    const messages = [{ role: 'user', content: 'Make 22 from 5, 20, 3' }]
    const body = { model: base, messages, sampling: { temperature: 0, maxTokens: 8 } }
    const { status, body: reply } = await visitor.act<ChatReply>('/chat', body)
    expect(status).toBe(200)
    expect(reply.text).not.toBe('')
    expect(reply.tokens.length).toBeGreaterThan(2)
    expect(reply.tokens.length).toBeLessThanOrEqual(8)
    for (const { probability, others } of reply.tokens) {
      expect(others.length).toBeGreaterThan(0)
      // greedy: none of the others is likelier
      expect(probability).toBeGreaterThanOrEqual(others[0].probability)
    }
  })

  it('tells the words as they come', async () => {
    const messages = [{ role: 'user', content: 'Make 22 from 5, 20, 3' }]
    const response = await fetch(`${visitor.origin}/api/chat`, {
      method: 'POST',
      headers: {
        cookie: visitor.cookie,
        origin: visitor.origin,
        'content-type': 'application/json',
        accept: 'application/x-ndjson',
      },
      body: JSON.stringify({ model: base, messages, sampling: { temperature: 0 } }),
    })
    const lines = (await response.text()).trim().split('\n')
    const told = lines.map((line) => JSON.parse(line) as { part?: ChatPart; result?: ChatReply })
    const heard = told.map(({ part }) => part?.text ?? '').join('')
    expect(heard.trim()).toBe(told.at(-1)?.result?.text.trim())
  })

  it('works on a task of any task set of a run, by another of its models', async () => {
    const { tasksets } = await visitor.get<TasksetList>(`/runs/${run}/tasksets`)
    expect(tasksets.map(({ id, name }) => [id, name])).toEqual([
      ['tasksets.0', 'puzzles'],
      ['eval_tasksets.0', 'held-out'],
      ['eval_tasksets.1', 'others'],
    ])
    const others = { run, model: weights, task: 0, taskset: 'eval_tasksets.1' }
    expect((await visitor.act<TryAnswer>('/try', others)).body.taskset).toBe('others')
    const none = await visitor.act<ApiError>('/try', { ...others, taskset: 'eval_tasksets.7' })
    expect([none.status, none.body.error.hint]).toEqual([404, 'it has tasksets.0, eval_tasksets.0, eval_tasksets.1'])
    const query = { run, model: weights, task: 2, taskset: 'eval_tasksets.0' }
    const { status, body } = await visitor.act<TryAnswer>('/try', query)
    expect([status, body.failure]).toEqual([200, undefined])
    expect(body).toMatchObject({ taskset: 'held-out', workflow: 'simple_workflow' })
    const [rollout] = body.rollouts
    expect([0, 0.1, 1]).toContain(rollout.reward)
    expect(rollout.promptText).toContain(String((body.row as { question: string }).question))
    expect(rollout.tokens.text?.join('')).toContain(rollout.responseText ?? '?')
  })

  it('opens nothing outside of the folders', async () => {
    const messages = [{ role: 'user', content: 'x' }]
    expect((await visitor.act('/chat', { model: '/etc', messages })).status).toBe(403)
    expect((await visitor.act('/try', { run, model: '/etc', task: 0 })).status).toBe(403)
    expect((await visitor.act('/try', { run, task: 1e9 })).status).toBe(400)
  })
})

it('the oldest idle model makes room for a third', async () => {
  const ended: string[] = []
  let count = 0
  const players = new Players(() => {
    const name = String(count++)
    return { isBusy: name === '0', ask: async () => name as never, close: async () => void ended.push(name) }
  })
  for (const name of ['a', 'b', 'a', 'c']) await players.ask(name, 'chat', {})
  // a is busy
  expect(ended).toEqual(['1'])
  expect(players.names).toEqual(['a', 'c'])
  await players.close()
  expect(ended).toEqual(['1', '0', '2'])
})
