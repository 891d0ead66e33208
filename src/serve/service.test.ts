import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { type Speech, silent, speaker, text } from '../../test/support/workflow-kit.js'
import { type ExperienceBuffer, openBuffer } from '../buffer/index.js'
import type { Config } from '../config/index.js'
import type { Experience } from '../experience/index.js'
import { Gateway } from '../gateway/index.js'
import { ExperiencePipeline } from '../pipeline/index.js'
import { TrinityClient } from './client.js'
import { Commits } from './commits.js'
import { History } from './history.js'
import { Rotation } from './rotation.js'
import { Service } from './service.js'
import { visits } from './visit.js'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A server whose model answers so, and the buffer behind it. */
async function serve(says: Speech): Promise<{ url: string; buffer: ExperienceBuffer; logged: object[] }> {
  const dir = await tempDir()
  const at = (name: string) => `sqlite:///${join(dir, name)}`
  const history = await History.open(at('h.db'))
  const buffer = await openBuffer({ name: 'b', storage_type: 'sql', path: at('b.db'), max_read_timeout: 1 }, {})
  const pipeline = await ExperiencePipeline.open({ operators: [], output: buffer })
  const commits = await Commits.open({ history, pipeline, buffer, who: 'explorer', paired: false })
  const samplers = new Rotation([await speaker(says)], { least: 1, waitMs: 1000 })
  const logged: object[] = []
  const monitor = { log: (metrics: object) => void logged.push(metrics) }
  const service = new Service({ history, commits, samplers, monitor })
  const rollout_model = { name: 'policy', max_model_len: 4096, temperature: 0.5, seed: 1, tool_call_parser: 'hermes' }
  const config = { explorer: { rollout_model }, synchronizer: { sync_timeout: 10 } } as unknown as Config
  const gateway = await Gateway.open({
    visitors: { open: visits({ config, sampler: samplers, text, history, log: silent }), models: ['policy'] },
    extension: {
      posts: { '/feedback': (body) => service.feedback(body), '/commit': (body) => service.commit(body) },
      metrics: () => service.metrics(),
    },
  })
  closers.push(
    () => history.close(),
    () => buffer.close(),
    () => gateway.close(),
  )
  return { url: gateway.url, buffer, logged }
}

interface Said {
  tool_calls: { id: string }[]
}

async function chat(client: TrinityClient, messages: object[], more: object = {}) {
  const response = await client.fetch(`${client.baseURL}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages, ...more }),
  })
  const { choices } = (await response.json()) as { choices: { message: Said }[] }
  return choices[0].message
}

const user = (content: string) => ({ role: 'user', content })
const read = ({ tokens }: Experience) => text.tokenizer.decode(tokens, { skipSpecial: false })

describe('Service', () => {
  it('keeps each answer as it was sampled; a conversation goes on from its tokens', async () => {
    const call = '<tool_call>{"name": "look",  "arguments": {}}</tool_call>'
    const { url, buffer, logged } = await serve((prompt) => (prompt.includes('a cat') ? 'cat' : call))
    const client = new TrinityClient(`${url}/v1/`, { taskId: 't', runId: 3 })
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
    const said = await chat(client, [user('?')], { tools, temperature: 0 })
    // as clients do: without the space that the model wrote
    const tool = { role: 'tool', tool_call_id: said.tool_calls[0].id, content: 'a cat' }
    await chat(client, [user('?'), { ...said, content: null }, tool], { tools })
    expect(client.ids).toHaveLength(2)
    await client.feedback(true)
    expect(await client.commit()).toEqual({ count: 2, step: 1 })
    const taken = await buffer.take(2)
    expect(read(taken[1])).toContain(`${call}<|end|><|tool|>a cat<|end|><|assistant|>cat<|end|>`)
    // chance is the server's to decide
    expect(taken.map(({ temperature, reward, eid }) => [temperature, reward, eid.task, eid.run, eid.step])).toEqual([
      [0.5, 1, 't', 3, 0],
      [0.5, 1, 't', 3, 1],
    ])
    expect(logged).toMatchObject([{ 'rollout/reward/mean': 1, 'rollout/finished_task_count': 1, explore_step_num: 1 }])
  })

  it('a client notes only replies that were read to their end, and asks for nothing by itself', async () => {
    const { url } = await serve(() => 'yes')
    const client = new TrinityClient(url)
    expect(client.taskId).toMatch(/^[0-9a-f]{6}$/)
    expect(client.openai).toEqual({ baseURL: `${url}/v1`, apiKey: 'EMPTY', fetch: client.fetch })
    expect(client.anthropic.baseURL).toBe(url)
    const body = JSON.stringify({ messages: [user('?')], stream: true })
    const headers = { 'content-type': 'application/json' }
    const response = await client.fetch(`${client.baseURL}/chat/completions`, { method: 'POST', headers, body })
    expect(client.ids).toEqual([])
    await response.text()
    expect(client.ids).toEqual([response.headers.get('x-request-id')])
    await (await client.fetch(`${client.baseURL}/models`)).text()
    expect(client.ids).toHaveLength(1)
    expect(await client.feedback(0.5)).toEqual({ count: 1 })
    expect(client.ids).toEqual([])
    await expect(client.feedback(1)).rejects.toMatchObject({ code: 'serve/no-answers' })
  })

  it('says where nobody is', async () => {
    const client = new TrinityClient('http://127.0.0.1:9')
    expect(await client.alive()).toBe(false)
    await expect(client.commit()).rejects.toMatchObject({ code: 'serve/unreachable', path: 'http://127.0.0.1:9' })
    for (const wrong of ['', '127.0.0.1:8010', 'not a url', undefined as unknown as string]) {
      expect(() => new TrinityClient(wrong)).toThrow(expect.objectContaining({ code: 'serve/url' }))
    }
  })
})
