import { afterEach, expect, it } from 'vitest'
import type { SamplingParams } from '../contract.js'
import { type Answer, Answers, servedRequest } from '../served/answers.fixture.js'
import type { ServedRequest } from '../served/server-api.js'
import { VllmApi } from './api.js'

/** Answers as vLLM 0.32 gave them, shortened. */
const MODELS = {
  data: [
    { id: 'mm', max_model_len: 1024, parent: null },
    { id: 'l1', parent: 'mm' },
  ],
}
const top = (values: number[]) => values.map((logprob, i) => ({ token_id: i, logprob, rank: i + 1 }))
const choice = (index: number, more: object = {}) => ({
  index,
  finish_reason: 'length',
  stop_reason: null,
  token_ids: [42, 392],
  weight_versions: [
    { version: 'default', start: 0, end: 1 },
    { version: '7', start: 1, end: 2 },
  ],
  logprobs: {
    content: [
      { token_id: 42, logprob: -0.25, rank: 1, top_logprobs: top([-0.25, -2]) },
      { token_id: 392, logprob: -4, rank: 9, top_logprobs: [{ token_id: 392, logprob: -4 }, ...top([-0.5, -1])] },
    ],
  },
  ...more,
})
const USAGE = { prompt_tokens_details: { cached_tokens: 16 } }

const answers = new Answers()
const { asked } = answers
afterEach(() => answers.close())

const api = async (answer: (route: string, body: Record<string, unknown>) => Answer) =>
  new VllmApi(await answers.open(answer))
const request = (params: Partial<SamplingParams> = {}, more: Partial<ServedRequest> = {}) =>
  servedRequest(params, more, { topLogprobs: 2 })

it('asks for token ids and reads tokens, log-probs, versions and what was cached', async () => {
  const one = await api((route) => {
    if (route !== '/inference/v1/generate') return [404, { detail: 'Not Found' }]
    return [200, { choices: [choice(0)], usage: USAGE, prompt_logprobs: [null, { 320: { logprob: -11.5 } }] }]
  })
  const [sample] = await one.generate(
    request({ stopTokenIds: [9], minTokens: 1, topP: 0.9 }, { promptLogprobs: true }),
    {},
  )
  expect(asked[0].body).toMatchObject({
    request_id: 'abc',
    token_ids: [1, 320],
    sampling_params: { temperature: 0.5, top_p: 0.9, stop_token_ids: [2, 9], ignore_eos: true, min_tokens: 1, seed: 5 },
  })
  expect(sample).toMatchObject({
    finish: 'length',
    cachedTokens: 16,
    versions: [
      { version: 'default', from: 0 },
      { version: '7', from: 1 },
    ],
  })
  expect([...sample.tokens]).toEqual([42, 392])
  expect([...sample.logprobs]).toEqual([-0.25, -4])
  expect([...(sample.promptLogprobs ?? [])]).toEqual([Number.NaN, -11.5])
  expect(sample.topLogprobs?.map(({ tokens }) => [...tokens])).toEqual([
    [0, 1],
    [0, 1],
  ])
})

it('reads a stream as it reads the whole', async () => {
  const pieces = [
    { choices: [choice(1, { finish_reason: null, weight_versions: null })] },
    { choices: [choice(0, { finish_reason: 'stop', stop_reason: 'END' })] },
    { choices: [choice(1, { finish_reason: 'stop', stop_reason: 2 })] },
    { choices: [], usage: USAGE },
  ]
  const text = `${pieces.map((piece) => `data: ${JSON.stringify(piece)}\n\n`).join('')}data: [DONE]\n\n`
  const one = await api(() => [200, text])
  const seen: [number, number][] = []
  const samples = await one.generate(request({}, { n: 2, stop: ['END'] }), {}, (index, token) =>
    seen.push([index, token]),
  )
  expect(seen).toEqual([
    [1, 42],
    [1, 392],
    [0, 42],
    [0, 392],
    [1, 42],
    [1, 392],
  ])
  expect(samples.map(({ tokens }) => tokens.length)).toEqual([2, 4])
  // the end of a sequence is no reason that is told
  expect(samples.map(({ finish, stoppedBy }) => [finish, stoppedBy])).toEqual([
    ['stop', 'END'],
    ['stop', undefined],
  ])
  expect(samples[1].cachedTokens).toBe(16)
})

it('finds out what log-probs mean, and whether the server is one of ours', async () => {
  const values = (body: Record<string, unknown>) => (body.sampling_params as { temperature: number }).temperature
  const probe =
    (scale: number) =>
    (route: string, body: Record<string, unknown>): Answer => {
      if (route === '/version') return [200, { version: '0.32.0' }]
      if (route === '/v1/models') return [200, MODELS]
      if (route.startsWith('/server_info')) {
        const ours = { worker_extension_cls: scale === 2 ? 'trinity_served.vllm_worker.TrinityWorker' : '' }
        return [200, { vllm_config: { parallel_config: ours } }]
      }
      const by = values(body) === 0 ? 1 : scale
      const content = [{ token_id: 0, logprob: -0.1 * by, top_logprobs: top([-0.1 * by, -0.5 * by]) }]
      return [200, { choices: [choice(0, { logprobs: { content } })] }]
    }
  expect(await (await api(probe(1))).about({})).toEqual({
    version: '0.32.0',
    maxModelLen: 1024,
    logprobs: 'raw',
    scoresAnyTemperature: false,
    extended: false,
  })
  answers.close()
  expect(await (await api(probe(2))).about({})).toMatchObject({ logprobs: 'model', extended: true })
})

it('changes weights in the order that a server needs', async () => {
  const one = await api(() => [200, { results: [null] }])
  await one.pause('continue', {})
  await one.reload('/w/7', '7', {})
  await one.resume()
  expect(asked.map(({ route }) => route)).toEqual([
    '/pause?mode=keep&clear_cache=false',
    '/collective_rpc',
    '/reset_prefix_cache',
    '/update_weight_version',
    '/resume',
  ])
  expect(asked[1].body).toMatchObject({ method: 'reload_weights', kwargs: { weights_path: '/w/7' } })
})

it('a route that is closed is named, with what opens it', async () => {
  const disabled = 'Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out to enable them.'
  const one = await api((route) => {
    if (route === '/version') return [200, { version: '0.32.0' }]
    if (route === '/v1/models') return [200, MODELS]
    return route.startsWith('/inference') ? [403, { error: { message: disabled } }] : [404, { detail: 'Not Found' }]
  })
  await expect(one.about({})).rejects.toMatchObject({
    code: 'vllm/no-route',
    message: 'the vLLM server (0.32.0) does not offer /inference/v1/generate',
    hint: expect.stringContaining('--enable-scale-out'),
  })
  await expect(one.pause('finish', {})).rejects.toMatchObject({
    code: 'vllm/no-route',
    message: 'the vLLM server does not offer /pause',
    hint: expect.stringContaining('VLLM_SERVER_DEV_MODE=1'),
  })
})
