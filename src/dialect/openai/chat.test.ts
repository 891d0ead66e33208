import { describe, expect, it } from 'vitest'
import { modelOf, speaker } from '../../../test/support/workflow-kit.js'
import { askedOf, Speaking } from '../dialect.fixture.js'
import { chat } from './chat.js'

const messages = [{ role: 'user', content: 'hello' }]
const tools = [{ type: 'function', function: { name: 'add' } }]
const read = (more: object) => askedOf(chat, { model: 'm', messages, ...more })

describe('chat completions', () => {
  it('reads messages in every form that clients write', async () => {
    const { asked } = await read({
      messages: [
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'be' },
            { type: 'text', text: 'brief' },
          ],
        },
        { role: 'user', content: 'hello', name: 'me' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { name: 'add', arguments: { a: 1 } } }] },
        { role: 'tool', content: '3', tool_call_id: 'c' },
      ],
    })
    expect(asked.messages).toEqual([
      { role: 'system', content: 'be\nbrief' },
      { role: 'user', content: 'hello', name: 'me' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { name: 'add', arguments: '{"a":1}' } }] },
      { role: 'tool', content: '3', tool_call_id: 'c' },
    ])
  })

  it('finds the session', async () => {
    const sessions = [{ user: 'u' }, { user: 'u', metadata: { session: 's' } }, { user: 'u', session_id: 'i' }, {}]
    const found = await Promise.all(sessions.map(async (more) => (await read(more)).asked.session))
    expect(found).toEqual(['u', 's', 'i', undefined])
  })

  it('reads how to sample', async () => {
    const { args } = await read({
      ...{ max_completion_tokens: 5, logprobs: true, top_logprobs: 2, seed: 3, stop: 'x', reasoning_effort: 'low' },
      ...{ tools, tool_choice: 'required', parallel_tool_calls: false, n: 2, temperature: null },
    })
    expect(args).toEqual({
      ...{ max_tokens: 5, logprobs: 2, seed: 3, stop: 'x', chat_template_kwargs: { reasoning_effort: 'low' } },
      ...{ tools, tool_choice: 'required', parallel_tool_calls: false, n: 2 },
    })
    expect((await read({})).args.n).toBe(1)
  })

  it.each([
    ['messages', { messages: [] }],
    ['messages', { messages: 'hello' }],
    ['messages[0]', { messages: ['hello'] }],
    ['messages[0].role', { messages: [{ role: 'robot', content: 'x' }] }],
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages[0].content[0]', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }] }],
    ['messages[0].tool_calls[0].function', { messages: [{ role: 'assistant', tool_calls: [{}] }] }],
    ['tools[0]', { tools: [{ type: 'custom', custom: { name: 'x' } }] }],
    ['tool_choice', { tool_choice: 'required' }],
    ['audio', { audio: { voice: 'x' } }],
    ['modalities.0', { modalities: ['audio'] }],
    ['n', { n: 1000 }],
    ['temperature', { temperature: 'hot' }],
    ['temperature', { temperature: -1 }],
  ])('refuses what it cannot do: %s', async (path, more) => {
    await expect(read(more)).rejects.toMatchObject({ name: 'TrinityError', path })
  })

  it('says what to use instead of the older form of tools', async () => {
    const functions = { functions: [{ name: 'add' }] }
    await expect(read(functions)).rejects.toThrow("describe functions in 'tools'")
    await expect(read({ function_call: { name: 'add' } })).rejects.toThrow("use 'tools' and 'tool_choice'")
    const called = { role: 'assistant', content: null, function_call: { name: 'add', arguments: '{}' } }
    await expect(read({ messages: [called] })).rejects.toMatchObject({ hint: "use 'tool_calls'" })
    expect((await read({ functions: [], function_call: 'none' })).args.tools).toBeUndefined()
  })

  it('streams several answers with their log-probs and tokens', async () => {
    const speaking = new Speaking(chat, modelOf(await speaker(() => ['hi', 'hey you'])))
    const body = { messages, n: 2, logprobs: true, return_token_ids: true }
    const { reply } = await speaking.ask(body)
    const { events } = await speaking.ask({ ...body, stream: true })
    const whole = reply.choices as { index: number; message: { content: string } }[]
    expect(whole.map(({ message }) => message.content)).toEqual(['hi', 'hey you'])
    for (const { index, message, ...ended } of whole) {
      const own = events.flatMap(({ choices }) => choices as { index: number; delta: { content?: string } }[])
      const chunks = own.filter((choice) => choice.index === index)
      expect(chunks.map(({ delta }) => delta.content ?? '').join('')).toBe(message.content)
      expect(chunks.at(-1)).toEqual({ index, delta: {}, ...ended })
    }
    expect(events.at(-1)!.prompt_token_ids).toEqual(reply.prompt_token_ids)
  })

  it('gives every reply and call an id of its own', async () => {
    const speaking = new Speaking(chat, modelOf(await speaker(() => '<tool_call>{"name":"add"}</tool_call>')))
    const ids = [await speaking.ask({ messages, tools }), await speaking.ask({ messages, tools })].flatMap(
      ({ reply, said }) => [reply.id, (said.tool_calls as { id: string }[])[0].id],
    )
    expect(new Set(ids).size).toBe(4)
  })

  it('refuses in the words of OpenAI', () => {
    expect(chat.refusal({ status: 400, code: 'dialect/invalid', message: 'no', param: 'n' })).toEqual({
      error: { message: 'no', type: 'invalid_request_error', param: 'n', code: 'dialect/invalid' },
    })
  })
})
