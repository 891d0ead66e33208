import { existsSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Chat } from '../../model/chat.js'
import { nextCall } from '../calls.js'
import type { AskedChat, Sample, SampleModel, SampleRequest } from '../contract.js'
import { HostedEngine } from './engine.js'
import { fails, says, streams, TestService } from './service.fixture.js'

const KEY = 'sk-hosted-engine-31415'
let service: TestService
let engine: HostedEngine
let model: SampleModel
let chat: Chat
let notes: string[]

beforeEach(async () => {
  notes = []
  service = await new TestService().open()
  process.env.TEST_HOSTED_URL = service.url
  process.env.TEST_HOSTED_KEY = KEY
  engine = await HostedEngine.open((text) => notes.push(text))
  model = await open()
  chat = await Chat.load(engine.textDir)
})
afterEach(async () => {
  await model.close()
  await engine.close()
  await service.close()
  delete process.env.TEST_HOSTED_URL
  delete process.env.TEST_HOSTED_KEY
})

const open = (given = {}) =>
  engine.openSample(
    {
      path: 'known',
      hosted: {
        baseUrlEnv: 'TEST_HOSTED_URL',
        apiKeyEnv: 'TEST_HOSTED_KEY',
        key: 'model.external_model',
        maxInFlight: 4,
        maxRetries: 1,
        ...given,
      },
    },
    nextCall(),
  )
const asked: AskedChat = { messages: [{ role: 'user', content: 'Hi <|end|>' }], options: { tools: null } }
const ask = (given: Partial<SampleRequest> = {}): SampleRequest => ({
  prompt: chat.encodePrompt(asked.messages),
  n: 1,
  params: { temperature: 0.5, maxTokens: 32, topP: 1, topK: -1, repetitionPenalty: 1, seed: 2 ** 40 + 5 },
  chat: asked,
  ...given,
})
const textOf = ({ tokens }: Sample) => chat.tokenizer.decode(tokens)
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('no error'),
    (error) => error as Error & { code: string; hint: string },
  )

describe('a hosted model', () => {
  it('gets the messages, with what changes something and nothing else', async () => {
    service.replies = [says('Hello.')]
    const [sample] = await model.sample(ask(), nextCall())
    expect(service.asked[0]).toMatchObject({ url: '/v1/chat/completions', authorization: `Bearer ${KEY}` })
    expect(service.asked[0].body).toEqual({
      model: 'known',
      messages: asked.messages,
      temperature: 0.5,
      max_tokens: 32,
      seed: 5,
    })
    expect([textOf(sample), sample.finish]).toEqual(['Hello.', 'stop'])
    expect(sample.tokens.at(-1)).toBe(chat.tokenizer.eosId)
    expect(sample.logprobs.every(Number.isNaN)).toBe(true)
    expect(model.stats()).toMatchObject({ promptTokens: 10, sampledTokens: 3, cachedTokens: 4, retries: 0 })
  })

  it('is passed what only some services know where it is asked for, and fields of the configuration', async () => {
    service.replies = [says('x')]
    const own = await open({ extra: { reasoning_effort: 'low' } })
    const params = { temperature: 1, maxTokens: 8, topP: 0.9, topK: 5, minP: 0.1, stop: ['\n'], minTokens: 2 }
    await own.sample(ask({ params, chat: { ...asked, options: { tool_choice: 'none' } } }), nextCall())
    expect(service.asked[0].body).toMatchObject({
      ...{ top_p: 0.9, top_k: 5, min_p: 0.1, stop: ['\n'], min_tokens: 2 },
      ...{ tool_choice: 'none', reasoning_effort: 'low' },
    })
  })

  it('says any text byte by byte, also what looks like a special token, and nothing at all', async () => {
    service.replies = [says('a<|end|>é😀\u0000\n')]
    const [sample] = await model.sample(ask(), nextCall())
    expect(textOf(sample)).toBe('a<|end|>é😀\u0000\n')
    const long = 'é'.repeat(2 ** 20)
    service.replies = [says(long), says('')]
    expect(textOf((await model.sample(ask(), nextCall()))[0]).length).toBe(long.length)
    const [empty] = await model.sample(ask(), nextCall())
    expect([textOf(empty), empty.tokens.length]).toEqual(['', 1])
  })

  it('is asked until there are as many answers as wanted, each time with another seed', async () => {
    service.replies = [says('a', 'b'), says('c'), says('d', 'e')]
    const samples = await model.sample(ask({ n: 4 }), nextCall())
    expect(samples.map(textOf)).toEqual(['a', 'b', 'c', 'd'])
    expect(service.asked.map(({ body }) => [body.n, body.seed])).toEqual([
      [4, 5],
      [2, 7],
      [undefined, 8],
    ])
  })

  it('tells of length, refusals and calls of tools', async () => {
    const call = { function: { name: 'look', arguments: '{"at": 1}' } }
    service.replies = [
      says(
        { message: { content: 'half' }, finish_reason: 'length' },
        { message: { content: null, refusal: 'No.' }, finish_reason: 'stop' },
        { message: { content: null, tool_calls: [call, call] }, finish_reason: 'tool_calls' },
        {
          message: {
            content: [
              { type: 'text', text: 'in ' },
              { type: 'text', text: 'parts' },
            ],
          },
          finish_reason: null,
        },
      ),
    ]
    const samples = await model.sample(ask({ n: 4 }), nextCall())
    const block = '<tool_call>\n{"name":"look","arguments":{"at":1}}\n</tool_call>'
    expect(samples.map(textOf)).toEqual(['half', 'No.', `${block}\n${block}`, 'in parts'])
    expect(samples.map(({ finish }) => finish)).toEqual(['length', 'stop', 'stop', 'stop'])
  })

  it('gives log-probs where the service does: their sum is that of the answer', async () => {
    const content = [
      { token: 'Hé', logprob: -0.5, bytes: [72, 195, 169] },
      { token: '!', logprob: -0.25 },
    ]
    service.replies = [says({ message: { content: 'Hé!' }, finish_reason: 'stop', logprobs: { content } })]
    const [{ logprobs }] = await model.sample(ask({ topLogprobs: 1 }), nextCall())
    expect([...logprobs]).toEqual([-0.5, 0, 0, -0.25, 0])
    expect(service.asked[0].body).toMatchObject({ logprobs: true, top_logprobs: 1 })
  })

  it('is asked with the newer name of the limit where the service wants that', async () => {
    const refusal = fails(400, '{"error":{"message":"Use \'max_completion_tokens\' instead."}}')
    service.replies = [refusal, says('a'), says('b')]
    await model.sample(ask(), nextCall())
    await model.sample(ask(), nextCall())
    expect(service.asked.map(({ body }) => [body.max_tokens, body.max_completion_tokens])).toEqual([
      [32, undefined],
      [undefined, 32],
      [undefined, 32],
    ])
  })

  it('is never asked more at once than it may', async () => {
    let now = 0
    let most = 0
    service.replies = [
      (response) => {
        most = Math.max(most, ++now)
        setTimeout(() => {
          now--
          says('x')(response, {} as never)
        }, 5)
      },
    ]
    await Promise.all(Array.from({ length: 20 }, () => model.sample(ask(), nextCall())))
    expect(most).toBe(4)
  })

  it('ends with nothing when nobody waits any more', async () => {
    service.replies = [() => {}]
    const mine = new AbortController()
    const waiting = model.sample(ask({ n: 2 }), nextCall(mine.signal))
    setTimeout(() => mine.abort(), 20)
    expect((await waiting).map(({ finish }) => finish)).toEqual(['abort', 'abort'])
  })

  it('does nothing but answer chats, and says so', async () => {
    for (const refused of [
      model.sample(ask({ chat: undefined }), nextCall()),
      model.score([], nextCall()),
      model.loadWeights('x', 1, 'finish', nextCall()),
      model.saveWeights('x', nextCall()),
      engine.openTrain(),
      engine.openScore(),
      engine.openReward(),
    ]) {
      expect(await failure(refused)).toMatchObject({ code: 'engine/unsupported' })
    }
  })
})

describe('a stream of a hosted model', () => {
  const piece = (delta: object, finish_reason: string | null = null, index = 0) => ({
    choices: [{ index, delta, finish_reason }],
  })
  const stream = async (given: Partial<SampleRequest> = {}) => {
    const seen: number[][] = [[], []]
    const samples = await model.sample(ask(given), nextCall(), (index, token) => seen[index].push(token))
    return { samples, told: seen.map((tokens) => chat.tokenizer.decode(tokens)) }
  }

  it('is told as it comes, answers beside each other, calls when they are whole', async () => {
    service.replies = [
      streams([
        piece({ role: 'assistant', content: '' }),
        piece({ content: 'Hé' }),
        piece({ content: 'B' }, null, 1),
        piece({ content: 'llo' }),
        piece({ tool_calls: [{ index: 0, function: { name: 'go', arguments: '' } }] }, null, 1),
        piece({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }, null, 1),
        piece({}, 'length'),
        piece({}, 'tool_calls', 1),
        { choices: [], usage: { prompt_tokens: 7, completion_tokens: 5 } },
        '[DONE]',
      ]),
    ]
    const { samples, told } = await stream({ n: 2 })
    const call = 'B\n<tool_call>\n{"name":"go","arguments":{}}\n</tool_call>'
    expect(told).toEqual(['Héllo', call])
    expect(samples.map(textOf)).toEqual(['Héllo', call])
    expect(samples.map(({ finish }) => finish)).toEqual(['length', 'stop'])
    expect(service.asked[0].body).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    expect(model.stats()).toMatchObject({ promptTokens: 7, sampledTokens: 5 })
  })

  it('that breaks off, ends early, or tells of an error is no answer', async () => {
    const begun = piece({ content: 'half' })
    for (const [reply, code] of [
      [streams([begun], false), 'engine/openai/cut'],
      [streams([begun]), 'engine/openai/cut'],
      [streams([begun, { error: { message: 'overloaded' } }]), 'engine/openai/answer'],
      [streams([begun, '{not json']), 'engine/openai/answer'],
      [says('no stream'), 'engine/openai/answer'],
    ] as const) {
      service.replies = [reply]
      expect(await failure(stream())).toMatchObject({ code })
    }
  })
})

describe('a hostile service', () => {
  const once = () => failure(model.sample(ask(), nextCall(undefined, 3000)))

  it('is asked again where that may help, and named where it does not', async () => {
    const own = await open({ maxRetries: 2 })
    service.replies = [fails(429, '', { 'retry-after-ms': '5' }), fails(503, '', { 'retry-after-ms': '5' }), says('ok')]
    expect(textOf((await own.sample(ask(), nextCall()))[0])).toBe('ok')
    expect(own.stats()).toMatchObject({ requests: 4, retries: 2 })
    service.replies = [fails(429, '{"error":{"message":"slow down"}}', { 'retry-after-ms': '5' })]
    expect(await once()).toMatchObject({ code: 'engine/openai/busy', message: expect.stringContaining('slow down') })
  })

  it('gives one error for each of its tricks, none of which shows the key', async () => {
    const tricks = [
      [fails(401, `{"error":{"message":"wrong key ${KEY}"}}`), 'unauthorized'],
      [fails(404, '{"error":{"message":"no such model"}}'), 'not-found'],
      [fails(302, '', { location: 'http://elsewhere.example/?k=1' }), 'redirect'],
      [fails(200, '<html><title>Portal</title></html>'), 'answer'],
      [fails(200, '{"choices":[]}'), 'answer'],
      [fails(200, '{"choices":[{"message":7}]}'), 'answer'],
      [fails(200, `{"error":"quota of ${KEY}"}`), 'answer'],
      [fails(200, ''), 'answer'],
    ] as const
    for (const [reply, code] of tricks) {
      service.replies = [reply]
      const error = await once()
      expect(error.code).toBe(`engine/openai/${code}`)
      expect(error.hint).toBeTruthy()
      expect(JSON.stringify(error) + error.message + error.stack).not.toContain('sk-hosted')
    }
    expect(service.asked).toHaveLength(tricks.length)
  })

  it('does not hold a call beyond its deadline', async () => {
    service.replies = [(response) => void setInterval(() => response.write(' '), 20).unref()]
    const begun = performance.now()
    expect(await failure(model.sample(ask(), nextCall(undefined, 150)))).toMatchObject({
      code: 'engine/openai/deadline',
    })
    expect(performance.now() - begun).toBeLessThan(10_000)
  })
})

describe('opening a hosted model', () => {
  it('fails at once where a variable is missing, the key is refused, or nobody is there', async () => {
    expect(await failure(open({ apiKeyEnv: 'TEST_HOSTED_NOTHING' }))).toMatchObject({
      message: 'the variable TEST_HOSTED_NOTHING is not set',
      path: 'model.external_model.api_key_env',
    })
    process.env.TEST_HOSTED_URL = KEY
    const swapped = await failure(open())
    expect(swapped).toMatchObject({ message: 'the variable TEST_HOSTED_URL holds no http address' })
    expect(JSON.stringify(swapped)).not.toContain('sk-hosted')
    process.env.TEST_HOSTED_URL = 'http://127.0.0.1:1/v1'
    const begun = performance.now()
    expect(await failure(open({ maxRetries: 8 }))).toMatchObject({
      code: 'engine/openai/absent',
      message: expect.stringContaining('http://127.0.0.1:1/v1/models'),
      path: 'model.external_model.base_url_env',
      hint: expect.stringContaining('TEST_HOSTED_URL holds http://127.0.0.1:1/v1'),
    })
    expect(performance.now() - begun).toBeLessThan(10_000)
  })

  it('fails at once where neither models nor chats are below the address, and not where only models are missing', async () => {
    service.lists = false
    service.replies = [fails(404, '{"detail":"Not Found"}')]
    expect(await failure(open({ maxRetries: 8 }))).toMatchObject({
      code: 'engine/openai/not-found',
      path: 'model.external_model.base_url_env',
      hint: expect.stringContaining('an address that ends in /v1'),
    })
    expect(service.asked.map(({ url }) => url)).toEqual(['/v1/models', '/v1/chat/completions'])
    service.replies = [fails(404), fails(400, '{"error":"messages must not be empty"}'), says('x')]
    const own = await open()
    expect(textOf((await own.sample(ask(), nextCall()))[0])).toBe('x')
    service.replies = [fails(404), fails(401)]
    expect(await failure(open())).toMatchObject({ code: 'engine/openai/unauthorized' })
  })

  it('says where a service does not list the model, and in the end what was used', async () => {
    await engine.openSample(
      {
        path: 'other',
        hosted: {
          baseUrlEnv: 'TEST_HOSTED_URL',
          apiKeyEnv: 'TEST_HOSTED_KEY',
          key: 'k',
          maxInFlight: 1,
          maxRetries: 0,
        },
      },
      nextCall(),
    )
    expect(notes).toEqual([`${service.url} does not list the model 'other'; it lists known`])
    notes.length = 0
    service.replies = [says('x')]
    await model.sample(ask(), nextCall())
    await engine.close()
    expect(notes).toContain('known: 2 requests, 10 prompt tokens, 3 completion tokens')
    expect(existsSync(engine.textDir)).toBe(false)
  })
})
