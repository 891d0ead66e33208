import { expect, it } from 'vitest'
import { type FakeOptions, FakeService } from './service.fixture.js'
import { TinkerSession } from './session.js'
import { DOCUMENTED_TRAITS, gradNorm, type Traits, tryOut } from './traits.js'

const adapter = { baseModel: 'bigram', rank: 4, mlp: true, attention: true, unembed: true }

it.each([
  ['as documented', {}, DOCUMENTED_TRAITS],
  [
    'means, and no clipping',
    { means: true, clips: false },
    { form: { perToken: true, perDatum: true, signedWeights: false }, clips: false, mixesSamplers: false },
  ],
  ['nothing reported', { reports: false }, DOCUMENTED_TRAITS],
] as [string, FakeOptions, Traits][])('a service is found out: %s', async (_, options, expected) => {
  const service = await new FakeService(options).listen()
  const signal = AbortSignal.timeout(20_000)
  const session = await TinkerSession.open({ baseUrl: service.url }, signal)
  expect(await tryOut(session, adapter, signal)).toEqual(expected)
  expect(service.seen).toContain('unload_model')
  await session.close()
  await service.close()
})

it('the norm of a gradient has many names', () => {
  expect(gradNorm({ 'skyrl.ai/grad_norm': 2 })).toBe(2)
  expect(gradNorm({ 'unclipped_grad_norm:mean': 3 })).toBe(3)
  expect(gradNorm({ mhc_gradient_norm: 1, 'loss:sum': 4 })).toBeUndefined()
})
