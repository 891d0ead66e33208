import { describe, expect, it } from 'vitest'
import { modelOf, speaker } from '../../../test/support/workflow-kit.js'
import { askedOf, Speaking } from '../dialect.fixture.js'
import { responses } from './responses.js'

const tools = [{ type: 'function', name: 'add', parameters: { type: 'object' }, strict: false }]
const read = (more: object) => askedOf(responses, { model: 'm', input: 'hello', ...more })
const RAW = '<think>hm</think>I add. <tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
const speaking = async (said: string) => {
  const sampler = await speaker((prompt) => (prompt.includes('more') ? 'end' : said))
  return new Speaking(responses, modelOf(sampler, { reasoningParser: 'think' }))
}

describe('openai responses', () => {
  it('joins the items of one turn into one message', async () => {
    const { asked } = await read({
      instructions: 'be brief',
      input: [
        { role: 'developer', content: 'really' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I add.', annotations: [] }] },
        { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{}' },
        { type: 'function_call', call_id: 'c2', name: 'add', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: '3' },
        { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: '4' }] },
      ],
    })
    const call = (id: string) => ({ id, type: 'function', function: { name: 'add', arguments: '{}' } })
    expect(asked.messages).toEqual([
      { role: 'system', content: 'be brief' },
      { role: 'system', content: 'really' },
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'I add.', reasoning_content: 'hm', tool_calls: [call('c1'), call('c2')] },
      { role: 'tool', tool_call_id: 'c1', content: '3' },
      { role: 'tool', tool_call_id: 'c2', content: '4' },
    ])
  })

  it('reads how to sample', async () => {
    const format = { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true }
    const { args, asked } = await read({
      ...{ max_output_tokens: 7, temperature: 0.5, text: { format }, reasoning: { effort: 'none' } },
      ...{ tools, tool_choice: { type: 'function', name: 'add' }, parallel_tool_calls: false },
      ...{ include: ['reasoning.encrypted_content'], truncation: 'disabled', metadata: { session: 's' }, store: false },
    })
    expect(asked.session).toBe('s')
    expect(args).toMatchObject({
      ...{ max_tokens: 7, temperature: 0.5, enable_thinking: false, parallel_tool_calls: false },
      tools: [{ type: 'function', function: { name: 'add', parameters: { type: 'object' }, strict: false } }],
      tool_choice: { type: 'function', function: { name: 'add' } },
      response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } },
    })
  })

  it.each([
    ['input', { input: [] }],
    ['input[0].content[0]', { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'x' }] }] }],
    ['input[0]', { input: [{ type: 'web_search_call', id: 'w' }] }],
    ['input[0].id', { input: [{ type: 'item_reference', id: 'msg_gone_0' }] }],
    ['tools[0]', { tools: [{ type: 'local_shell' }] }],
    ['truncation', { truncation: 'auto' }],
    ['max_tool_calls', { max_tool_calls: 2 }],
    ['top_p', { top_p: 1.5 }],
    ['temperature', { temperature: 3 }],
    ['n', { n: 2 }],
    ['max_tokens', { max_tokens: 7 }],
    ['tool_choice', { tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] } }],
    ['tool_choice', { tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] } }],
    ['text.format', { text: { format: { type: 'grammar' } } }],
    ['include.0', { include: ['message.output_text.logprobs'] }],
    ['previous_response_id', { previous_response_id: 'resp_gone' }],
    ['background', { background: true }],
    ['conversation', { conversation: 'conv_1' }],
    ['prompt', { prompt: { id: 'p' } }],
  ])('refuses what it cannot do: %s', async (path, more) => {
    await expect(read(more)).rejects.toMatchObject({ name: 'TrinityError', path })
  })

  it('offers the tools of a namespace one by one, and gives calls back as the client knows them', async () => {
    const agents = {
      type: 'namespace',
      name: 'agents_v1',
      description: 'helpers',
      tools: [
        { type: 'function', name: 'spawn', parameters: { type: 'object' }, strict: false },
        { type: 'function', name: 'close', parameters: { type: 'object' } },
      ],
    }
    const given = [...tools, agents, { type: 'web_search', external_web_access: false }]
    const { args, asked } = await read({ tools: given, client_metadata: { turn: '1' }, reasoning: { context: 'auto' } })
    const nameOf = (tool: unknown) => (tool as { function: { name: string } }).function.name
    expect(args.tools?.map(nameOf)).toEqual(['add', 'agents_v1__spawn', 'agents_v1__close'])
    expect([...asked.notes!].map(({ kind, path }) => [kind, path])).toEqual([
      ['field', 'client_metadata'],
      ['field', 'reasoning.context'],
      ['tool', 'tools[2]'],
    ])

    const call = '<tool_call>{"name": "agents_v1__spawn", "arguments": {"task": "x"}}</tool_call>'
    const speak = await speaking(call)
    const { reply } = await speak.ask({ input: 'hello', tools: given })
    const [item] = reply.output as Record<string, unknown>[]
    expect(item).toMatchObject({
      type: 'function_call',
      name: 'spawn',
      namespace: 'agents_v1',
      arguments: '{"task":"x"}',
    })
    const { events } = await speak.ask({ input: 'hello', tools: given, stream: true })
    const named = { name: 'spawn', namespace: 'agents_v1' }
    expect(events.find(({ type }) => type === 'response.output_item.added')?.item).toMatchObject(named)
    expect(events.find(({ type }) => type === 'response.output_item.done')?.item).toMatchObject(named)

    // sent back, it is what the model wrote, also by a request that offers no tools
    const result = { type: 'function_call_output', call_id: item.call_id, output: 'more' }
    const input = [{ role: 'user', content: 'hello' }, item, result]
    await speak.ask({ input, tools: given })
    expect(speak.model.stats).toMatchObject({ divergences: 1, diverged: { again: 1 } })
    const bare = await read({ input })
    expect(bare.asked.messages?.[1].tool_calls).toMatchObject([{ function: { name: 'agents_v1__spawn' } }])
  })

  it('ignores any number of unknown fields', async () => {
    const many = Object.fromEntries(Array.from({ length: 150_000 }, (_, i) => [`key_${i}`, 1]))
    const { asked } = await read({ reasoning: { effort: 'low', ...many } })
    expect([...asked.notes!].length).toBe(150_000)
  })

  it('offers a custom tool as a function with one text, and gives its calls back with that text', async () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' }
    const patch = { type: 'custom', name: 'apply_patch', description: 'edits files', format }
    const { args } = await read({ tools: [patch], tool_choice: { type: 'custom', name: 'apply_patch' } })
    expect(args.tools).toMatchObject([
      { type: 'function', function: { name: 'apply_patch', parameters: { required: ['input'] } } },
    ])
    expect(JSON.stringify(args.tools)).toContain('The input follows this lark grammar:\\nstart')
    expect(args.tool_choice).toEqual({ type: 'function', function: { name: 'apply_patch' } })

    const speak = await speaking('<tool_call>{"name": "apply_patch", "arguments": {"input": "*** a\\nb"}}</tool_call>')
    const { reply } = await speak.ask({ input: 'hello', tools: [patch] })
    const [item] = reply.output as Record<string, unknown>[]
    expect(item).toMatchObject({ type: 'custom_tool_call', name: 'apply_patch', input: '*** a\nb' })
    const { events } = await speak.ask({ input: 'hello', tools: [patch], stream: true })
    const typed = (type: string) => events.find((event) => event.type === `response.custom_tool_call_input.${type}`)
    expect([typed('delta')?.delta, typed('done')?.input]).toEqual(['*** a\nb', '*** a\nb'])
    const result = { type: 'custom_tool_call_output', call_id: item.call_id, output: 'more' }
    await speak.ask({ input: [{ role: 'user', content: 'hello' }, item, result], tools: [patch] })
    expect(speak.model.stats).toMatchObject({ divergences: 1, diverged: { again: 1 } })
  })

  it('reads which tools are allowed', async () => {
    const inner = { type: 'namespace', name: 'ns', tools: [{ type: 'function', name: 'go' }] }
    const choice = (named: object[]) => ({
      type: 'allowed_tools',
      mode: 'auto',
      tools: [{ type: 'web_search' }, ...named],
    })
    const { args } = await read({
      tools: [...tools, inner],
      tool_choice: choice([
        { type: 'function', name: 'add' },
        { type: 'function', name: 'go', namespace: 'ns' },
      ]),
    })
    const named = (name: string) => ({ type: 'function', function: { name } })
    expect(args.tool_choice).toEqual({
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [named('add'), named('ns__go')] },
    })
  })

  it('reads images and files in tool results as text', async () => {
    const output = [
      { type: 'input_image', image_url: 'data:image/png;base64,AA' },
      { type: 'input_file', file_id: 'f' },
    ]
    const { asked } = await read({
      input: [
        { role: 'user', content: 'hello' },
        { type: 'function_call', call_id: 'c1', name: 'view', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output },
      ],
    })
    const omitted = (kind: string) => `[${kind} omitted: the model reads only text]`
    expect(asked.messages?.at(-1)?.content).toBe(`${omitted('image')}\n${omitted('file')}`)
    expect([...asked.notes!].map(({ name }) => name)).toEqual(['image', 'file'])
  })

  it('writes items, and events in the order of the API', async () => {
    const speak = await speaking(RAW)
    const { reply } = await speak.ask({ input: 'hello', tools })
    expect(reply).toMatchObject({
      ...{ object: 'response', status: 'completed', incomplete_details: null },
      output: [
        { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] },
        { type: 'message', content: [{ type: 'output_text', text: 'I add.' }] },
        { type: 'function_call', name: 'add', arguments: '{"a":1}', status: 'completed' },
      ],
    })
    const { events } = await speak.ask({ input: 'hello', tools, reasoning: { summary: 'auto' }, stream: true })
    const types = events.map(({ type }) => String(type).slice('response.'.length))
    expect(types.filter((type, i) => type !== types[i - 1])).toEqual([
      ...['created', 'in_progress', 'output_item.added', 'reasoning_summary_part.added'],
      ...['reasoning_summary_text.delta', 'reasoning_summary_text.done', 'reasoning_summary_part.done'],
      ...['output_item.done', 'output_item.added', 'content_part.added', 'output_text.delta', 'output_text.done'],
      ...['content_part.done', 'output_item.done', 'output_item.added', 'function_call_arguments.delta'],
      ...['function_call_arguments.done', 'output_item.done', 'completed'],
    ])
  })

  it('says when an answer was cut off', async () => {
    const speak = await speaking('a long answer')
    const { reply } = await speak.ask({ input: 'hello', max_output_tokens: 3 })
    const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    expect(reply).toMatchObject({ ...cut, output: [{ status: 'incomplete', content: [{ text: 'a l' }] }] })
    const { events } = await speak.ask({ input: 'hello', max_output_tokens: 3, stream: true })
    expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: cut })
  })

  it('goes on from a reply that is named, and from items that are named', async () => {
    const speak = await speaking(RAW)
    const { id, reply } = await speak.ask({ input: 'hello', instructions: 'be brief', tools })
    const output = reply.output as { id: string; call_id?: string }[]
    const result = { type: 'function_call_output', call_id: output[2].call_id, output: 'more' }
    await speak.ask({ input: [result], instructions: 'be brief', previous_response_id: id, tools })
    const named = output.map((item) => ({ type: 'item_reference', id: item.id }))
    const input = [{ role: 'user', content: 'hello' }, ...named, result]
    await speak.ask({ input, instructions: 'be brief', tools })
    // the same was asked in two ways
    expect(speak.model.stats).toMatchObject({ calls: 3, divergences: 1, diverged: { again: 1 } })
    const { asked } = await askedOf(responses, { input: 'so?', previous_response_id: id }, speak.recall)
    expect(asked.messages?.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })
})
