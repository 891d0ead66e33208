import { describe, expect, it } from 'vitest'
import { modelOf, speaker } from '../../../test/support/workflow-kit.js'
import { askedOf, obeyingStops, Speaking } from '../dialect.fixture.js'
import { anthropic } from './anthropic.js'

const hello = { role: 'user', content: 'hello' }
const body = { model: 'm', max_tokens: 500, messages: [hello] }
const tools = [{ name: 'add', description: 'adds', input_schema: { type: 'object' } }]
const read = async (more: object) => askedOf(anthropic, { ...body, ...more })

describe('anthropic messages', () => {
  it('reads blocks as messages', async () => {
    const { asked } = await read({
      system: [
        { type: 'text', text: 'be', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'brief' },
      ],
      messages: [
        hello,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'text', text: 'I add.' },
            { type: 'tool_use', id: 't1', name: 'add', input: { a: 1 } },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', content: [{ type: 'text', text: '3' }] },
            { type: 'text', text: 'and' },
            { type: 'text', text: 'now?' },
          ],
        },
      ],
      metadata: { user_id: 'me' },
    })
    expect(asked.session).toBe('me')
    expect(asked.messages).toEqual([
      { role: 'system', content: 'be\nbrief' },
      hello,
      {
        role: 'assistant',
        content: 'I add.',
        reasoning_content: 'hm',
        tool_calls: [{ id: 't1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 't1', content: '3' },
      { role: 'user', content: 'and\nnow?' },
    ])
  })

  it('reads how to sample', async () => {
    const { args } = await read({
      ...{ tools, temperature: 0.5, top_p: 0.9, top_k: 5, stop_sequences: ['END'] },
      ...{ tool_choice: { type: 'any', disable_parallel_tool_use: true }, thinking: { type: 'disabled' } },
    })
    expect(args).toMatchObject({
      ...{ n: 1, temperature: 0.5, top_p: 0.9, top_k: 5, max_tokens: 500, stop: ['END'] },
      ...{ tool_choice: 'required', parallel_tool_calls: false, enable_thinking: false },
      tools: [{ type: 'function', function: { name: 'add', description: 'adds', parameters: { type: 'object' } } }],
    })
    expect((await read({ tools, tool_choice: { type: 'none' } })).args.tools).toBeUndefined()
    const { args: one } = await read({ tools, tool_choice: { type: 'tool', name: 'add' } })
    expect(one.tool_choice).toEqual({ type: 'function', function: { name: 'add' } })
    const format = { type: 'json_schema', schema: { type: 'object' } }
    expect((await read({ output_config: { format } })).args.response_format).toEqual({
      type: 'json_schema',
      json_schema: { schema: { type: 'object' } },
    })
  })

  it.each([
    ['max_tokens', { max_tokens: undefined }],
    ['temperature', { temperature: -1 }],
    ['messages', { messages: [] }],
    ['messages[0].content[0]', { messages: [{ role: 'user', content: [{ type: 'image', source: {} }] }] }],
    ['messages[0].role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['tools[0]', { tools: [{ type: 'bash_20250124', name: 'bash' }] }],
    ['temperature', { temperature: 2.1 }],
    ['top_p', { top_p: 0 }],
    ['stop', { stop: 'END' }],
    ['tool_choice', { tool_choice: { type: 'any' } }],
    ['tool_choice.name', { tools, tool_choice: { type: 'tool' } }],
    ['mcp_servers', { mcp_servers: [{}] }],
    ['thread.previous_message_id', { thread: { type: 'continue', previous_message_id: 'gone' } }],
  ])('refuses what it cannot do: %s', async (path, more) => {
    await expect(read(more)).rejects.toMatchObject({ name: 'TrinityError', path })
  })

  it('ignores what asks for nothing', async () => {
    const { args, asked } = await read({
      ...{
        mcp_servers: [],
        stop_sequences: ['', 'END'],
        n: 1,
        priority: 1,
        cache_salt: 's',
        skip_special_tokens: true,
      },
    })
    expect(args).toMatchObject({ n: 1, stop: ['END'] })
    expect([...asked.notes!]).toEqual([])
  })

  it('reads tool results with images, documents and references as text', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
    const content = [
      { type: 'text', text: 'two files' },
      image,
      { type: 'document', title: 'notes', source: { type: 'text', media_type: 'text/plain', data: 'read me' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } },
      { type: 'tool_reference', tool_name: 'Look' },
      { type: 'search_result', title: 'page', source: 'x', content: [{ type: 'text', text: 'found' }, image] },
    ]
    const result = (blocks: unknown) => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't1', content: blocks }],
    })
    const messages = [hello, { role: 'assistant', content: 'I look.' }, result(content)]
    const { asked } = await read({ messages })
    const omitted = (kind: string) => `[${kind} omitted: the model reads only text]`
    expect(asked.messages?.at(-1)?.content).toBe(
      [
        'two files',
        omitted('image'),
        'notes',
        'read me',
        omitted('document'),
        'Look',
        'page',
        'found',
        omitted('image'),
      ].join('\n'),
    )
    expect([...asked.notes!].map(({ kind, name }) => [kind, name])).toEqual([
      ['media', 'image'],
      ['media', 'document'],
      ['media', 'image'],
    ])
    // the next request sends it again, and the model sees the same
    const later = await read({ messages: [...messages, { role: 'assistant', content: 'Done.' }, hello] })
    expect(later.asked.messages?.[2]).toEqual(asked.messages?.[2])
    expect(later.asked.notes?.isEmpty).toBe(true)
  })

  it('says why an answer ended', async () => {
    const ask = async (said: string, more: object) => {
      const speaking = new Speaking(anthropic, modelOf(obeyingStops(await speaker(() => said))))
      const { reply } = await speaking.ask({ ...body, ...more })
      const { events } = await speaking.ask({ ...body, ...more, stream: true })
      const { stop_reason, stop_sequence, content } = reply
      expect(events.find(({ type }) => type === 'message_delta')).toMatchObject({
        delta: { stop_reason, stop_sequence },
      })
      return [stop_reason, stop_sequence, (content as { text?: string }[])[0]?.text]
    }
    expect(await ask('yes', {})).toEqual(['end_turn', null, 'yes'])
    expect(await ask('yes', { max_tokens: 2 })).toEqual(['max_tokens', null, 'ye'])
    expect(await ask('yes END no', { stop_sequences: ['END', 'x'] })).toEqual(['stop_sequence', 'END', 'yes '])
    expect(await ask('<tool_call>{"name":"add"}</tool_call>', { tools })).toEqual(['tool_use', null, undefined])
  })

  it('has nothing in a text but its text: clients refuse citations that are null', async () => {
    const speaking = new Speaking(anthropic, modelOf(await speaker(() => 'yes')))
    expect((await speaking.ask(body)).reply.content).toEqual([{ type: 'text', text: 'yes' }])
    const { events } = await speaking.ask({ ...body, stream: true })
    const begun = events.find(({ type }) => type === 'content_block_start')
    expect(begun?.content_block).toEqual({ type: 'text', text: '' })
  })

  it('goes on from what the assistant began, also in the next turn', async () => {
    const model = modelOf(obeyingStops(await speaker((prompt) => (prompt.includes('more') ? 'end' : ' four STOP'))))
    const speaking = new Speaking(anthropic, model)
    const begun = { ...body, messages: [hello, { role: 'assistant', content: 'It is' }], stop_sequences: ['STOP'] }
    const { reply } = await speaking.ask(begun)
    expect(reply.content).toMatchObject([{ text: ' four ' }])
    const messages = [hello, { role: 'assistant', content: 'It is four ' }, { role: 'user', content: 'more' }]
    await speaking.ask({ ...begun, messages })
    expect(model.stats.divergences).toBe(0)
  })

  it('keeps the tools and the system prompt of a thread', async () => {
    const model = modelOf(await speaker(() => '<tool_call>{"name":"add","arguments":{}}</tool_call>'))
    const speaking = new Speaking(anthropic, model)
    const { id, said } = await speaking.ask({ ...body, system: 'sys', tools, thread: { type: 'create' } })
    const [{ id: tool_use_id }] = said.tool_calls as { id: string }[]
    const messages = [{ role: 'user', content: [{ type: 'tool_result', tool_use_id, content: '3' }] }]
    const thread = { type: 'continue', previous_message_id: id }
    const { asked, args } = await askedOf(anthropic, { ...body, messages, thread }, speaking.recall)
    expect(asked.messages?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool'])
    expect(args.tools).toHaveLength(1)
  })

  it('refuses in its own words', () => {
    const refusal = anthropic.refusal({ status: 429, code: 'rate_limit_exceeded', message: 'wait' })
    expect(refusal).toMatchObject({ type: 'error', error: { type: 'rate_limit_error', message: 'wait' } })
    expect(refusal.request_id).toMatch(/^req_/)
  })
})
