import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { nextCall } from '../calls.js'
import { TinkerEngine } from './engine.js'
import { FakeService, VOCAB } from './service.fixture.js'

const KEY = 'tml-never-to-be-shown'
const adapter = { baseModel: 'bigram', rank: 4, mlp: true, attention: true, unembed: true }
const PROMPT = Int32Array.of(3, 7, 5)
const request = { prompt: PROMPT, n: 2, params: { temperature: 1, maxTokens: 6 } }
let path: string
let service: FakeService
let engine: TinkerEngine

beforeAll(async () => {
  process.env.TINKER_API_KEY = KEY
  path = await mkdtemp(join(tmpdir(), 'trinity-tinker-'))
  const config = { model_type: 'llama', architectures: ['LlamaForCausalLM'], vocab_size: VOCAB, hidden_size: 8 }
  const shape = { num_hidden_layers: 1, num_attention_heads: 1, intermediate_size: 8, max_position_embeddings: 64 }
  await writeFile(
    join(path, 'config.json'),
    JSON.stringify({ ...config, ...shape, rms_norm_eps: 1e-5, eos_token_id: 4 }),
  )
  await writeFile(join(path, 'tokenizer.json'), '{}')
  service = await new FakeService().listen()
  engine = new TinkerEngine({ baseUrl: service.url, adapter, trust: true })
})
afterAll(async () => {
  delete process.env.TINKER_API_KEY
  await engine.close()
  await service.close()
  await rm(path, { recursive: true, force: true })
})

it('samples end at the first end token, stop token or at their length, with their log-probs', async () => {
  const sampler = await engine.openSample({ path }, nextCall())
  const [first, second] = await sampler.sample(request, nextCall())
  // the service goes on counting; what comes behind the end token is not part of the sample
  expect([...first.tokens]).toEqual([0, 1, 2, 3, 4])
  expect(first).toMatchObject({ finish: 'stop', versions: [{ version: -1, from: 0 }] })
  expect(first.logprobs).toHaveLength(5)
  expect([...second.tokens]).toEqual([1, 2, 3, 4])
  const [stopped] = await sampler.sample({ ...request, params: { ...request.params, stopTokenIds: [2] } }, nextCall())
  expect(stopped).toMatchObject({ tokens: Int32Array.of(0, 1, 2), finish: 'stop', stoppedBy: 2 })
  const [whole] = await sampler.sample({ ...request, params: { ...request.params, ignoreEos: true } }, nextCall())
  expect(whole).toMatchObject({ finish: 'length', tokens: Int32Array.of(0, 1, 2, 3, 4, 5) })
  await sampler.close()
})

it('log-probs of a prompt have a place for the first token, which nothing predicts', async () => {
  const sampler = await engine.openSample({ path }, nextCall())
  const [sample] = await sampler.sample({ ...request, promptLogprobs: true }, nextCall())
  expect(sample.promptLogprobs).toHaveLength(3)
  expect(sample.promptLogprobs![0]).toBeNaN()
  const mask = Uint8Array.of(1)
  const row = { id: 'a', tokens: PROMPT, start: 2, mask, temperature: 1, columns: {} }
  expect((await sampler.score([row], nextCall()))[0].logprob).toEqual(sample.promptLogprobs!.slice(2))
  await sampler.close()
})

it('weights that nobody uses any more are deleted at the service, those of checkpoints stay', async () => {
  const model = await engine.openTrain({ path }, nextCall())
  const sampler = await engine.openSample({ path, shareWith: model }, nextCall())
  const step = { lr: 0.1, betas: [0.9, 0.99] as const, eps: 1e-8, weightDecay: 0, gradClip: 0 }
  service.deleted.length = 0
  await model.handOver([sampler], 0, 'finish', nextCall())
  for (let version = 1; version <= 3; version++) {
    await model.optimStep(step, nextCall())
    if (version === 2) await model.save(join(path, 'kept'), nextCall())
    await model.handOver([sampler], version, 'finish', nextCall())
    expect(sampler.version).toBe(version)
  }
  await expect.poll(() => service.deleted.length).toBe(2)
  expect(service.deleted.every((route) => /checkpoints\/sampler_weights\/trinity-sampler-[01]-/.test(route))).toBe(true)
  await sampler.saveWeights(join(path, 'older'), nextCall())
  const other = await engine.openSample({ path }, nextCall())
  await other.loadWeights(join(path, 'older'), 3, 'finish', nextCall())
  expect((await other.sample(request, nextCall()))[0].versions).toEqual([{ version: 3, from: 0 }])
  await other.loadWeights(join(path, 'kept', 'huggingface'), 2, 'finish', nextCall())
  await expect(other.loadWeights(tmpdir(), 4, 'finish', nextCall())).rejects.toMatchObject({
    code: 'engine/unsupported',
  })
  expect(other.version).toBe(2)
})

it('what is aborted has nothing, and the next request is served', async () => {
  const sampler = await engine.openSample({ path }, nextCall())
  service.troubles.set(
    'retrieve_future',
    Array.from({ length: 50 }, () => 'again' as const),
  )
  const control = new AbortController()
  const running = sampler.sample(request, nextCall(control.signal))
  setTimeout(() => control.abort(), 60)
  expect(await running).toMatchObject([
    { finish: 'abort', tokens: new Int32Array(0) },
    { finish: 'abort', tokens: new Int32Array(0) },
  ])
  service.troubles.clear()
  expect(await sampler.sample(request, nextCall())).toHaveLength(2)
  await sampler.close()
})

it.each([
  ['model.min_response_tokens', { minTokens: 2 }],
  ['model.repetition_penalty', { repetitionPenalty: 1.1 }],
  ['logit_bias', { logitBias: { 3: 1 } }],
])('%s is refused by name', async (key, more) => {
  const sampler = await engine.openSample({ path }, nextCall())
  const asked = sampler.sample({ ...request, params: { ...request.params, ...more } }, nextCall())
  await expect(asked).rejects.toMatchObject({ code: 'engine/unsupported', path: key })
  await sampler.close()
})

it('the key goes to the service and into no error', async () => {
  expect([...service.keys]).toEqual([KEY])
  const sampler = await engine.openSample({ path }, nextCall())
  service.troubles.set('asample', [{ json: { echo: KEY } }])
  const error = await sampler.sample(request, nextCall()).catch((one: Error) => one)
  expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain(KEY)
  expect(error).toMatchObject({ code: expect.stringMatching(/^tinker\//) })
})

it('a service that is not there, and one that needs a key, are said to be so', async () => {
  const nowhere = new TinkerEngine({ baseUrl: 'tinker.example', adapter })
  await expect(nowhere.openScore({ path }, nextCall())).rejects.toMatchObject({ code: 'tinker/address' })
  delete process.env.TINKER_API_KEY
  const hosted = new TinkerEngine({ adapter })
  await expect(hosted.openScore({ path }, nextCall())).rejects.toMatchObject({
    code: 'tinker/unauthorized',
    hint: expect.stringContaining('TINKER_API_KEY'),
  })
  process.env.TINKER_API_KEY = KEY
})
