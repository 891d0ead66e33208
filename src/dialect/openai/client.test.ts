import { describe, expect, it, vi } from 'vitest'
import { modelOf, speaker } from '../../../test/support/workflow-kit.js'
import type { CompletionChunk } from './types.js'

const messages = [{ role: 'user', content: 'hello' }]
const CALL = '<tool_call>{"name": "look", "arguments": {"at": "x"}}</tool_call>'
const tools = [{ type: 'function', function: { name: 'look' } }]

describe('openai()', () => {
  it('answers like the SDK and records token-exact experiences', async () => {
    const model = modelOf(await speaker(() => ['hi', 'hey you']))
    const client = model.openai()
    const body = { model: 'm', messages, n: 2, logprobs: true, top_logprobs: 0, temperature: 0.7, user: 'me' }
    const answer = await client.chat.completions.create(body)
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'm',
      choices: [
        { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hi' } },
        { index: 1, finish_reason: 'stop', message: { role: 'assistant', content: 'hey you' } },
      ],
    })
    const logprobs = answer.choices[0].logprobs!.content
    expect(logprobs.map(({ token }) => token)).toEqual(['h', 'i', '<|end|>'])
    expect(answer.usage.completion_tokens).toBe(3 + 8)
    const history = model.takeHistory()
    expect(history.map(({ responseText }) => responseText)).toEqual(['hi', 'hey you'])
    expect(history[0]).toMatchObject({ temperature: 0.7, info: { completion_id: answer.id } })
    expect(logprobs.map(({ logprob }) => logprob)).toEqual([...history[0].logprobs!])
  })

  it('has the promise of the SDK', async () => {
    const client = modelOf(await speaker(() => 'hi')).openai()
    const { data } = await client.chat.completions.create({ messages }).withResponse()
    expect(data.choices[0].message.content).toBe('hi')
    expect((await client.models.list()).data[0].id).toBe('policy')
  })

  it('streams: the pieces together are the answer, and it is recorded', async () => {
    const model = modelOf(await speaker(() => 'héllo 🙂 you'))
    const stream = await model
      .openai()
      .chat.completions.create({ messages, stream: true, stream_options: { include_usage: true } })
    const chunks: CompletionChunk[] = []
    for await (const chunk of stream) chunks.push(chunk)
    const said = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? ''))
    expect(said.join('')).toBe('héllo 🙂 you')
    expect(said.filter((piece) => piece !== '').length).toBeGreaterThan(5)
    expect(chunks.at(-2)?.choices[0].finish_reason).toBe('stop')
    expect(chunks.at(-1)?.usage?.completion_tokens).toBeGreaterThan(10)
    expect(model.takeHistory()[0].responseText).toBe('héllo 🙂 you')
  })

  it('holds tool calls back from the text of a stream', async () => {
    const model = modelOf(await speaker(() => `I look <b> first ${CALL}`))
    const stream = await model.openai().chat.completions.create({ messages, tools, stream: true })
    let content = ''
    const calls: unknown[] = []
    for await (const { choices } of stream) {
      content += choices[0]?.delta.content ?? ''
      calls.push(...(choices[0]?.delta.tool_calls ?? []))
    }
    expect(content).toBe('I look <b> first')
    expect(calls).toMatchObject([{ index: 0, function: { name: 'look', arguments: '{"at":"x"}' } }])
  })

  it('reads reasoning where a parser is named, and finds the tokens of the turn again', async () => {
    const sampler = await speaker((prompt) => (prompt.includes('more') ? 'end' : '<think>hm</think>\n\nfour'))
    const model = modelOf(sampler, { reasoningParser: 'deepseek_r1' })
    const client = model.openai()
    const { choices } = await client.chat.completions.create({ messages })
    expect(choices[0].message).toMatchObject({ content: 'four', reasoning_content: 'hm' })
    await client.chat.completions.create({
      messages: [...messages, { role: 'assistant', content: 'four' }, { role: 'user', content: 'more' }],
    })
    expect(model.stats.divergences).toBe(0)
    const deltas: Record<string, unknown>[] = []
    for await (const chunk of await client.chat.completions.create({ messages, stream: true })) {
      deltas.push(chunk.choices[0].delta)
    }
    const streamed = (key: string) => deltas.map((delta) => delta[key] ?? '').join('')
    expect([streamed('reasoning_content'), streamed('content')]).toEqual(['hm', 'four'])
    const odd = modelOf(sampler, { toolCallParser: 'pythonic' }).openai()
    await expect(odd.chat.completions.create({ messages, tools })).rejects.toMatchObject({ code: 'workflow/args' })
  })

  it('stops sampling when a stream is left early', async () => {
    const sampler = await speaker(() => 'on and on '.repeat(100), { latencyMs: 1 })
    const stream = await modelOf(sampler).openai().chat.completions.create({ messages, stream: true })
    let pieces = 0
    for await (const _ of stream) if (++pieces === 5) break
    const { sampledTokens, running } = sampler.stats()
    expect(running).toBe(0)
    expect(sampledTokens).toBeLessThan(500)
  })

  it('takes the signal of a request', async () => {
    const sampler = await speaker(() => 'on and on '.repeat(100), { latencyMs: 1 })
    const control = new AbortController()
    const call = modelOf(sampler).openai().chat.completions.create({ messages }, { signal: control.signal })
    setTimeout(() => control.abort(new Error('no more')), 10)
    await expect(call).rejects.toThrow('no more')
    expect(sampler.stats().running).toBe(0)
  })

  it('hands over bias and penalties, and what the engine says of bad ones', async () => {
    const sampler = await speaker(() => 'hi')
    const asked = vi.spyOn(sampler, 'sample')
    const client = modelOf(sampler, { defaults: { presence_penalty: 1, frequency_penalty: 0.5 } }).openai()
    const create = (more: object) => client.chat.completions.create({ messages, ...more })
    await create({ logit_bias: { '5': -100 }, frequency_penalty: -0.5, repetition_penalty: 1.2 })
    expect(asked.mock.lastCall![0].params).toMatchObject({
      presencePenalty: 1,
      frequencyPenalty: -0.5,
      repetitionPenalty: 1.2,
      logitBias: { 5: -100 },
    })
    await expect(create({ presence_penalty: 3 })).rejects.toMatchObject({ path: 'presence_penalty' })
    await expect(create({ logit_bias: { hello: 1 } })).rejects.toMatchObject({ path: 'logit_bias' })
  })

  it('holds the answers of a model to a schema, and its calls to their tools', async () => {
    const model = modelOf(await speaker(undefined))
    const client = model.openai()
    const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 3, maximum: 9 } }, required: ['n'] }
    const json = { type: 'json_schema', json_schema: { name: 'number', schema } } as const
    const { choices } = await client.chat.completions.create({ messages, n: 4, response_format: json, max_tokens: 300 })
    for (const { message, finish_reason } of choices) {
      if (finish_reason === 'stop') expect([3, 4, 5, 6, 7, 8, 9]).toContain(JSON.parse(message.content!).n)
    }
    expect(choices.some(({ finish_reason }) => finish_reason === 'stop')).toBe(true)
    const look = { type: 'function', function: { name: 'look', parameters: schema } }
    const body = {
      messages,
      tools: [look],
      tool_choice: 'required',
      parallel_tool_calls: false,
      max_tokens: 500,
    } as const
    const called = await client.chat.completions.create(body)
    expect(called.choices[0].finish_reason).toBe('tool_calls')
    const [{ function: call }] = called.choices[0].message.tool_calls!
    expect(call.name).toBe('look')
    expect(JSON.parse(call.arguments).n).toBeGreaterThanOrEqual(3)
    const cut = await client.chat.completions.create({ messages, response_format: json, max_tokens: 2 })
    expect(cut.choices[0]).toMatchObject({
      finish_reason: 'length',
      message: { content: expect.stringMatching(/^\{/) },
    })
  })

  it('calls an answer cut that ends in the middle of another call', async () => {
    const whole = '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>'
    const model = modelOf(await speaker(() => `${whole}\n${whole}`))
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
    const calls = async (max_tokens: number) => {
      const { choices } = await model.openai().chat.completions.create({ messages, tools, max_tokens })
      const [{ message, finish_reason }] = choices
      return [message.tool_calls?.length, finish_reason]
    }
    expect(await calls(500)).toEqual([2, 'tool_calls'])
    expect(await calls(whole.length + 20)).toEqual([1, 'length'])
  })

  it('refuses what it cannot do instead of ignoring it', async () => {
    const client = modelOf(await speaker(() => 'hi')).openai()
    const create = (more: object) => client.chat.completions.create({ messages, ...more })
    await expect(create({ response_format: { type: 'grammar' } })).rejects.toMatchObject({
      path: 'response_format.type',
    })
    await expect(create({ tool_choice: 'required' })).rejects.toThrow(/tools/)
    await expect(create({ guided_choice: ['a'], min_tokens: 3 })).rejects.toMatchObject({ path: 'min_tokens' })
    await expect(create({ presence_penalty: 0, response_format: { type: 'text' } })).resolves.toBeDefined()
  })

  it('ignores unknown fields, counts them and logs each once', async () => {
    const lines: string[] = []
    const logger = { warn: (text: string) => lines.push(text) }
    const model = modelOf(await speaker(() => 'hi'), { logger })
    const create = (more: object) => model.openai().chat.completions.create({ messages, ...more })
    await create({ temprature: 1, context_management: {} })
    await create({ temprature: 1 })
    expect(model.stats.notes).toEqual({ field: { other: 2, context_management: 1 }, tool: {}, media: {} })
    expect(lines).toEqual([
      `requests have the unknown field "temprature", which is ignored (did you mean 'temperature'?)`,
      'requests have the unknown field "context_management", which is ignored',
    ])
  })

  it('refuses unknown fields if the model says so', async () => {
    const model = modelOf(await speaker(() => 'hi'), { unknownFields: 'refuse' })
    const call = model.openai().chat.completions.create({ messages, temprature: 1 })
    await expect(call).rejects.toMatchObject({ path: 'temprature', hint: "did you mean 'temperature'?" })
    expect(model.stats.calls).toBe(0)
  })
})
