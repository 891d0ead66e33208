import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dialects } from '../../src/dialect/dialects.js'
import { Gateway, type SessionParts } from '../../src/gateway/index.js'
import { modelOf, speaker } from '../support/workflow-kit.js'

/** Requests with the fields that coding agents send, in the shapes of their current versions. */

let lines: string[]
let gateway: Gateway
beforeEach(async () => {
  lines = []
  const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void lines.push(text) }
  gateway = await Gateway.open({ dialects, logger })
})
afterEach(() => gateway.close())

async function session(said: string, parts: Partial<SessionParts> = {}) {
  const sampler = await speaker((prompt) => (prompt.includes('placeholder') ? 'seen' : said))
  const model = modelOf(sampler, { limits: { maxModelLen: 1 << 15, truncatePrompts: false } })
  const opened = gateway.session({ model, ...parts })
  const post = async (path: string, body: unknown) => {
    const response = await fetch(`${opened.baseURL}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${opened.apiKey}` },
      body: JSON.stringify(body),
    })
    // biome-ignore lint/suspicious/noExplicitAny: replies of three APIs
    return { status: response.status, reply: (await response.json()) as any }
  }
  return { opened, model, post }
}

const ephemeral = { cache_control: { type: 'ephemeral' } }
const read = {
  name: 'Read',
  description: 'Reads a file',
  input_schema: { type: 'object', properties: { file_path: { type: 'string' } }, required: ['file_path'] },
}
const claude = {
  model: 'policy',
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Look at pic.png', ...ephemeral }] },
    { role: 'system', content: [{ type: 'text', text: '# Environment', ...ephemeral }] },
  ],
  system: [
    { type: 'text', text: 'billing: 1' },
    { type: 'text', text: 'You are an agent.', ...ephemeral },
  ],
  tools: [read, { ...read, name: 'DeferredToolPlaceholder', defer_loading: true }],
  metadata: { user_id: '{"session_id":"1"}' },
  max_tokens: 2000,
  thinking: { type: 'adaptive', display: 'omitted' },
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  output_config: { effort: 'high', task_budget: { type: 'tokens', total: 1 } },
}

const text = (role: string, content: string) => ({
  type: 'message',
  id: `msg_${content}`,
  role,
  content: [{ type: 'input_text', text: content }],
})
const named = (name: string) => ({ type: 'function', name, strict: false, parameters: { type: 'object' } })
const codex = {
  model: 'policy',
  input: [text('developer', 'rules'), text('user', 'Look at pic.png')],
  tools: [
    named('exec_command'),
    named('view_image'),
    { type: 'namespace', name: 'multi_agent_v1', description: 'agents', tools: [named('spawn_agent')] },
    { type: 'web_search', external_web_access: false },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: true,
  reasoning: { summary: 'auto' },
  store: false,
  include: ['reasoning.encrypted_content'],
  prompt_cache_key: 'k',
  client_metadata: { thread_id: 't', 'x-codex-turn-metadata': '{}' },
}

const imageResult = (call_id: string) => ({
  type: 'function_call_output',
  call_id,
  output: [{ type: 'input_image', image_url: 'data:image/png;base64,iVBOR', detail: 'high' }],
})

describe('a rollout of Claude Code', () => {
  it('continues after its first request and after an image in a tool result', async () => {
    const { post, model, opened } = await session(
      '<tool_call>{"name": "Read", "arguments": {"file_path": "pic.png"}}</tool_call>',
    )
    expect((await fetch(`${opened.anthropicBaseURL}/`, { method: 'HEAD' })).status).toBe(200)
    const first = await post('/messages?beta=true', claude)
    expect(first).toMatchObject({ status: 200, reply: { stop_reason: 'tool_use' } })
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBOR' } }
    const result = { type: 'tool_result', tool_use_id: first.reply.content[0].id, content: [image], ...ephemeral }
    const second = await post('/messages?beta=true', {
      ...claude,
      messages: [
        ...claude.messages,
        { role: 'assistant', content: first.reply.content },
        { role: 'user', content: [result] },
      ],
    })
    expect(second.status).toBe(200)
    expect(model.stats).toMatchObject({
      divergences: 0,
      notes: { field: { context_management: 2, 'output_config.task_budget': 2 }, tool: {}, media: { image: 1 } },
    })
    const [experience] = model.toExperiences()
    expect(model.tokenizer.decode(experience.tokens)).toContain('[image omitted: the model reads only text]')
  })

  it('is refused by a strict session, and leaves nothing behind', async () => {
    const { post, model, opened } = await session('hi', { unknownFields: 'refuse' })
    const { status, reply } = await post('/messages', claude)
    expect(status).toBe(400)
    expect(reply.error.message).toContain("'context_management' is not supported")
    expect([opened.calls, model.stats.calls]).toEqual([[], 0])
    const { context_management: _, output_config: __, ...rest } = claude
    expect((await post('/messages', rest)).status).toBe(200)
  })
})

describe('a rollout of Codex', () => {
  it('continues after its first request and receives the calls of a namespace', async () => {
    const { post, model } = await session(
      '<tool_call>{"name": "multi_agent_v1__spawn_agent", "arguments": {"message": "go"}}</tool_call>',
    )
    const first = await post('/responses', codex)
    expect(first.status).toBe(200)
    const [call] = first.reply.output
    expect(call).toMatchObject({ type: 'function_call', name: 'spawn_agent', namespace: 'multi_agent_v1' })
    const input = [...codex.input, call, imageResult(call.call_id)]
    expect((await post('/responses', { ...codex, input })).status).toBe(200)
    expect(model.stats).toMatchObject({
      divergences: 0,
      notes: { field: { client_metadata: 2 }, tool: { web_search: 2 }, media: { image: 1 } },
    })
  })
})

describe('what requests lose', () => {
  it('is in the metrics under fixed labels, and logged once', async () => {
    const { post } = await session('hi')
    const messages = [{ role: 'user', content: 'x' }]
    for (const key of ['my_secret_key', 'my_secret_key', 'z'.repeat(200)]) {
      expect((await post('/chat/completions', { messages, [key]: 1 })).status).toBe(200)
    }
    const call = { type: 'function_call', call_id: '1', name: 'view_image', arguments: '{}' }
    for (const input of [codex.input, [...codex.input, call, imageResult('1')]]) {
      expect((await post('/responses', { ...codex, input })).status).toBe(200)
    }
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text()
    expect(metrics).toContain('trinity_gateway_ignored_fields_total{field="other"} 3\n')
    expect(metrics).toContain('trinity_gateway_ignored_fields_total{field="client_metadata"} 2\n')
    expect(metrics).toContain('trinity_gateway_dropped_tools_total{type="web_search"} 2\n')
    expect(metrics).toContain('trinity_gateway_replaced_media_total{type="image"} 1\n')
    expect(metrics).not.toContain('my_secret_key')
    expect(lines.filter((line) => line.includes('my_secret_key'))).toHaveLength(1)
    expect(lines.filter((line) => line.includes('client_metadata'))).toHaveLength(1)
    expect(lines.find((line) => line.includes('zzz'))).toContain(`"${'z'.repeat(64)}"`)
  })

  it('does not hide a session that has ended from a probe', async () => {
    const { opened } = await session('hi')
    for (const path of ['', '/', '/v1', '/v1/models', '/api/hello']) {
      const response = await fetch(opened.anthropicBaseURL + path, { method: 'HEAD' })
      expect([path, response.status, await response.text()]).toEqual([path, 200, ''])
    }
    opened.close()
    expect((await fetch(opened.anthropicBaseURL, { method: 'HEAD' })).status).toBe(404)
  })
})
