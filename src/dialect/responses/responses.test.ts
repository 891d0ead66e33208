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
      ...{ include: ['reasoning.encrypted_content'], truncation: 'auto', metadata: { session: 's' }, store: false },
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
    ['tools[0]', { tools: [{ type: 'web_search' }] }],
    ['tool_choice', { tools, tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] } }],
    ['text.format', { text: { format: { type: 'grammar' } } }],
    ['include.0', { include: ['message.output_text.logprobs'] }],
    ['previous_response_id', { previous_response_id: 'resp_gone' }],
    ['background', { background: true }],
    ['conversation', { conversation: 'conv_1' }],
    ['prompt', { prompt: { id: 'p' } }],
  ])('refuses what it cannot do: %s', async (path, more) => {
    await expect(read(more)).rejects.toMatchObject({ name: 'TrinityError', path })
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
