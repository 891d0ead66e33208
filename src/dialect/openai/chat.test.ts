import { describe, expect, it } from 'vitest'
import { modelOf, speaker } from '../../../test/support/workflow-kit.js'
import { askedOf, Speaking } from '../dialect.fixture.js'
import { chat } from './chat.js'

const messages = [{ role: 'user', content: 'hello' }]
const tools = [{ type: 'function', function: { name: 'add' } }]
const allowed = (mode: string) => ({
  type: 'allowed_tools',
  allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'add' } }] },
})
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
    ['temperature', { temperature: 2.5 }],
    ['top_p', { top_p: 0 }],
    ['top_p', { top_p: 1.01 }],
    ['best_of', { best_of: 2 }],
    ['use_beam_search', { use_beam_search: true }],
    ['guided_grammar', { guided_grammar: 'root ::= "a"' }],
    ['structured_outputs.grammar', { structured_outputs: { grammar: 'root ::= "a"' } }],
    ['structured_outputs', { structured_outputs: { regex: 'a' }, guided_regex: 'b' }],
    ['add_generation_prompt', { add_generation_prompt: false }],
    ['system', { system: 'be brief' }],
    ['tool_choice.allowed_tools.mode', { tools, tool_choice: allowed('none') }],
    ['messages[0].content[0]', { messages: [{ role: 'tool', content: [{}] }] }],
  ])('refuses what it cannot do: %s', async (path, more) => {
    await expect(read(more)).rejects.toMatchObject({ name: 'TrinityError', path })
  })

  it('accepts what asks for nothing, and other names', async () => {
    const { args, asked } = await read({
      ...{
        best_of: 1,
        use_beam_search: false,
        skip_special_tokens: true,
        priority: 1,
        cache_salt: 'a',
        random_seed: 3,
      },
      ...{ stop: '', mcp_servers: [], documents: [], echo: false, temperature: 2, top_p: 1 },
    })
    expect(args).toEqual({ n: 1, seed: 3, temperature: 2, top_p: 1 })
    expect([...asked.notes!]).toEqual([])
    expect((await read({ stop: ['', 'x'], seed: 1, random_seed: 2 })).args).toMatchObject({ stop: ['x'], seed: 1 })
  })

  it('reads structured_outputs of newer servers', async () => {
    const args = async (structured_outputs: object) => (await read({ structured_outputs })).args
    expect(await args({ json: { type: 'object' } })).toEqual({ n: 1, guided_json: { type: 'object' } })
    expect(await args({ regex: 'a+', choice: null })).toEqual({ n: 1, guided_regex: 'a+' })
    expect(await args({ choice: ['a'] })).toEqual({ n: 1, guided_choice: ['a'] })
    expect(await args({ json_object: true })).toEqual({ n: 1, response_format: { type: 'json_object' } })
    expect(await args({ whitespace_pattern: ' ' })).toEqual({ n: 1 })
  })

  it('ignores hints, drops hosted tools and replaces media in tool results', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
    const { args, asked } = await read({
      ...{ web_search_options: {}, anything: 1, reasoning_effort: null },
      tools: [...tools, { type: 'web_search' }],
      tool_choice: allowed('required'),
      messages: [
        ...messages,
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', function: { name: 'add', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: 'a plot' }, image] },
      ],
    })
    expect(args.tools).toEqual(tools)
    expect(args.tool_choice).toEqual(allowed('required'))
    expect(asked.messages?.at(-1)?.content).toBe('a plot\n[image omitted: the model reads only text]')
    expect([...asked.notes!]).toEqual([
      { kind: 'field', name: 'web_search_options', path: 'web_search_options' },
      { kind: 'field', name: 'anything', path: 'anything' },
      { kind: 'tool', name: 'web_search', path: 'tools[1]' },
      { kind: 'media', name: 'image', path: 'messages[2].content[1]' },
    ])
    expect(() => asked.notes!.refuse()).toThrow("'web_search_options' is not supported")
    // an image in a question is no hint
    await expect(read({ messages: [{ role: 'user', content: [image] }] })).rejects.toThrow()
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
