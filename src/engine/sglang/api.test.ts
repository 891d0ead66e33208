import { afterEach, expect, it } from 'vitest'
import { type Answer, Answers, servedRequest } from '../served/answers.fixture.js'
import { LOADER, SglangApi } from './api.js'

/** An answer as SGLang 0.5.23 gave it, shortened. */
const recorded = (more: object = {}) => ({
  text: 'Hel',
  output_ids: [42, 392],
  meta_info: {
    id: '3a92',
    finish_reason: { type: 'length', length: 2 },
    cached_tokens: 12,
    input_token_logprobs: [
      [null, 1, null],
      [-11.5, 320, null],
    ],
    output_token_logprobs: [
      [-0.25, 42, null],
      [-0.5, 392, null],
    ],
    output_top_logprobs: null,
    weight_versions: [{ version: 'step-1', start: 0, end: 2 }],
    ...more,
  },
})

const answers = new Answers()
const { asked } = answers
afterEach(() => answers.close())

const api = async (answer: (route: string, body: Record<string, unknown>) => Answer) =>
  new SglangApi(await answers.open(answer))
const request = servedRequest

it('asks for token ids, each sample with a seed of its own, and reads what comes', async () => {
  const stop = { finish_reason: { type: 'stop', matched: 2 } }
  const one = await api(() => [200, [recorded(), recorded(stop)]])
  const samples = await one.generate(request({ stopTokenIds: [9] }, { n: 2, promptLogprobs: true }), {})
  expect(asked[0].body).toMatchObject({
    rid: ['abc-0', 'abc-1'],
    input_ids: [
      [1, 320],
      [1, 320],
    ],
    sampling_params: [{ temperature: 0.5, stop_token_ids: [2, 9], sampling_seed: 5 }, { sampling_seed: 6 }],
  })
  expect(samples.map(({ finish, stoppedBy }) => [finish, stoppedBy])).toEqual([
    ['length', undefined],
    ['stop', undefined],
  ])
  expect([...samples[0].logprobs]).toEqual([-0.25, -0.5])
  expect([...(samples[0].promptLogprobs ?? [])]).toEqual([Number.NaN, -11.5])
  expect(samples[0]).toMatchObject({ cachedTokens: 12, versions: [{ version: 'step-1', from: 0 }] })
})

it('reads a stream, in which each piece holds all that was said so far', async () => {
  const half = { ...recorded({ finish_reason: null }), output_ids: [42], index: 0 }
  const whole = { ...recorded(), index: 0 }
  const one = await api(() => [
    200,
    `data: ${JSON.stringify(half)}\n\ndata: ${JSON.stringify(whole)}\n\ndata: [DONE]\n\n`,
  ])
  const seen: number[] = []
  const [sample] = await one.generate(request(), {}, (_, token) => seen.push(token))
  expect(seen).toEqual([42, 392])
  expect([...sample.tokens]).toEqual([42, 392])
})

/** A server of which the drawn log-probs are at the temperature, as SGLang tells them. */
const probed =
  (loaders: string[] = []) =>
  (route: string, body: Record<string, unknown>): Answer => {
    if (route === '/model_info') return [200, { model_path: '/m' }]
    if (route === '/server_info')
      return [200, { version: '0.5.23', context_length: 256, tp_size: 2, custom_weight_loader: loaders }]
    if (route !== '/generate') return [200, { success: true, message: 'sum' }]
    const { temperature } = body.sampling_params as { temperature: number }
    const by = temperature === 0 ? 1 : 1 / temperature
    const top = [-0.1, -0.5].map((logprob, i) => [logprob * by, i, null])
    return [200, recorded({ output_top_logprobs: [top] })]
  }

it('finds out what log-probs mean, and whether the server is one of ours', async () => {
  const stock = await (await api(probed())).about({})
  expect(stock).toEqual({
    version: '0.5.23',
    maxModelLen: 249,
    logprobs: 'model',
    scoresAnyTemperature: false,
    extended: false,
  })
  answers.close()
  expect(await (await api(probed([LOADER]))).about({})).toMatchObject({ scoresAnyTemperature: true, extended: true })
})

it('calls what is added to servers of ours, in the frame that changes of weights need', async () => {
  const one = await api(probed([LOADER]))
  await one.about({})
  asked.length = 0
  expect(await one.group.receive('/m', 'float32', {})).toBe('sum')
  await one.group.install('7')
  expect(asked.map(({ route }) => route)).toEqual([
    ...['/begin_weight_update', '/update_weights_from_tensor', '/end_weight_update'],
    ...['/begin_weight_update', '/update_weights_from_tensor', '/end_weight_update'],
  ])
  expect(asked[1].body).toEqual({
    serialized_named_tensors: ['gARdLg==', 'gARdLg=='],
    load_format: 'trinity {"method":"receive","path":"/m","dtype":"float32"}',
    flush_cache: false,
  })
  expect(asked[4].body).toMatchObject({ flush_cache: true, weight_version: '7' })
})

it('ends each sample of a request by its own name', async () => {
  let ended = () => {}
  const one = await api((route) => {
    if (route === '/abort_request') ended()
    return [200, route === '/generate' ? [recorded(), recorded()] : {}]
  })
  await one.abort('abc')
  expect(asked).toEqual([])
  const told = new Promise<void>((resolve) => {
    ended = resolve
  })
  const generated = one.generate(request({}, { n: 2 }), {})
  await one.abort('abc')
  await Promise.all([told, generated])
  const names = asked.filter(({ route }) => route === '/abort_request').map(({ body }) => body.rid)
  expect(names.sort()).toEqual(['abc-0', 'abc-1'])
})

it('looks at tokens that end an answer where there are any', async () => {
  const one = await api(() => [200, recorded()])
  await one.generate(request(), {})
  await one.generate(request({ ignoreEos: true }), {})
  const told = asked.map(({ body }) => body.sampling_params)
  expect(told).toMatchObject([[{ ignore_eos: false, stop_token_ids: [2] }], [{ ignore_eos: true, stop_token_ids: [] }]])
})

it('tells a draw among one token at its temperature', async () => {
  const one = await api(() => [200, recorded()])
  await one.generate(request({ topK: 1 }), {})
  expect(asked[0].body.sampling_params).toMatchObject([{ temperature: 0.5, top_k: -1, top_p: 1e-9 }])
})

it('weights that a server does not take, penalties and missing routes are errors', async () => {
  const one = await api((route) => {
    if (route === '/update_weights_from_disk') return [200, { success: false, message: 'Failed to load' }]
    return route === '/pause_generation' ? [404, { detail: 'Not Found' }] : [200, {}]
  })
  await expect(one.reload('/w', '3', {})).rejects.toMatchObject({ code: 'sglang/weights' })
  expect(asked[0].body).toEqual({ model_path: '/w', weight_version: '3', flush_cache: true })
  await expect(one.pause('finish', {})).rejects.toMatchObject({ code: 'sglang/no-route' })
  const endless = one.generate(request({ stopTokenIds: [9], ignoreEos: true }), {})
  await expect(endless).rejects.toMatchObject({ code: 'engine/unsupported' })
  const penalized = one.generate(request({ repetitionPenalty: 2 }), {})
  await expect(penalized).rejects.toMatchObject({ code: 'engine/logprobs' })
})
