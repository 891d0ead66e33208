import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { directLink } from '../../testing/direct-link.js'
import { describeEngine } from '../../testing/engine.js'
import { MockEngine } from './engine.js'

describeEngine(vitest, 'mock', async () => ({ engine: new MockEngine(), path: 'mock' }))

describe('the mock engine', () => {
  const call = () => ({ seq: 1, deadlineMs: 5000 })
  const request = { prompt: Int32Array.of(1), n: 3, params: { temperature: 1, maxTokens: 9 } }

  it('speaks what a script says, one reply per sample in turn', async () => {
    const engine = new MockEngine({ reply: ({ prompt }) => [[prompt[0], 5, 0], [6]] })
    const model = await engine.openSample({ path: 'mock' }, call())
    const samples = await model.sample(request, call())
    expect(samples.map((s) => [...s.tokens])).toEqual([[1, 5, 0], [6], [1, 5, 0]])
    expect(samples.every((s) => s.finish === 'stop')).toBe(true)
  })

  it('refuses more requests than its bound', async () => {
    const engine = new MockEngine({ maxQueue: 1, latencyMs: 5 })
    const model = await engine.openSample({ path: 'mock' }, call())
    const first = model.sample(request, call())
    await expect(model.sample(request, call())).rejects.toMatchObject({ code: 'engine/busy' })
    expect(await first).toHaveLength(3)
  })

  it('marks which version drew which tokens when weights change in flight', async () => {
    const engine = new MockEngine({ latencyMs: 4 })
    const trained = await engine.openTrain({ path: 'mock' }, call())
    const model = await engine.openSample({ path: 'mock' }, call())
    const running = model.sample({ ...request, n: 1, params: { ...request.params, ignoreEos: true } }, call(), () => {})
    await new Promise((resolve) => setTimeout(resolve, 15))
    await directLink(engine, trained, [model]).transfer(7, 'continue', call())
    const [sample] = await running
    expect(sample.versions.map((span) => span.version)).toEqual([-1, 7])
    expect(sample.versions[1].from).toBeGreaterThan(0)
  })

  it('says what it cannot do', async () => {
    const engine = new MockEngine()
    await expect(engine.openReward({ path: 'mock' }, call())).rejects.toMatchObject({ code: 'engine/unsupported' })
    const lora = { rank: 4, alpha: 8, targetModules: 'all-linear' } as const
    await expect(engine.openTrain({ path: 'mock', lora }, call())).rejects.toMatchObject({ code: 'engine/unsupported' })
  })
})
