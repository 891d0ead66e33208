import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { call, essence, openTiny, request, tiny } from '../../../../test/support/native-sampler.js'
import { fixture, testData, tinyModels } from '../../../../test/support/test-data.js'
import type { Row, Sample, SampleRequest } from '../../contract.js'
import { NativeEngine } from '../engine.js'
import { random } from '../tiny.fixture.js'

/** Greedy tokens of Transformers; end tokens do not stop them. */
async function greedy(path: string, cases: { prompt_ids: number[]; greedy_ids: number[] }[]): Promise<void> {
  const engine = new NativeEngine()
  const model = await engine.openSample({ path }, call())
  const answers = await Promise.all(
    cases.map(({ prompt_ids, greedy_ids }) =>
      model.sample(request(prompt_ids, { temperature: 0, maxTokens: greedy_ids.length }), call()),
    ),
  )
  expect(answers.map(([sample]) => [...sample.tokens])).toEqual(cases.map((one) => one.greedy_ids))
  await engine.close()
}

describe('greedy tokens are those of Transformers', () => {
  it.each(tinyModels)('%s', async (name) => {
    await greedy(fixture(name), JSON.parse(readFileSync(join(fixture(name), 'golden.json'), 'utf8')).greedy)
  })
  for (const [name, folder] of [
    ['stories260K', 'hf'],
    ['minimind2_small_hf', '.'],
  ]) {
    const data = testData(`models/${name}`)
    it.skipIf(data.absent)(`${name}${data.note}`, async () => {
      await greedy(join(data.path, folder), JSON.parse(readFileSync(join(data.path, 'golden.json'), 'utf8')))
    })
  }
})

/** Requests of every kind, with prompts around the size of a page (32) and common beginnings. */
function requests(count: number, seed: number): SampleRequest[] {
  const next = random(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]
  return Array.from({ length: count }, (_, i) => {
    const length = pick([1, 2, 31, 32, 33, 40, 63, 64, 65, 80])
    const family = pick([3, 5])
    const prompt = Array.from({ length }, (_, j) => (j * j * family + (j > 34 ? i : 0) + 7) % 80)
    return request(
      prompt,
      {
        seed: i,
        temperature: pick([0, 0.7, 1, 1.3]),
        maxTokens: pick([1, 9, 33, 40]),
        topK: pick([0, 0, 7]),
        topP: pick([1, 1, 0.8]),
        minP: pick([0, 0, 0.05]),
        repetitionPenalty: pick([1, 1, 1.2]),
        presencePenalty: pick([0, 0, 0.9]),
        frequencyPenalty: pick([0, 0, 0.4]),
        logitBias: pick<Record<number, number>>([{}, {}, { 9: 3, 11: -100 }]),
        ignoreEos: next() < 0.7,
        minTokens: pick([0, 0, 1]),
      },
      { n: pick([1, 1, 2, 4]), promptLogprobs: next() < 0.3, topLogprobs: pick([0, 0, 3]) },
    )
  })
}

describe('the same request and seed give the same numbers', () => {
  it.each([
    ['a cache that holds a few sequences only', { cacheTokens: 256, maxBatch: 6 }],
    ['a cache that holds hardly more than one', { cacheTokens: 128, maxBatch: 3 }],
    ['no prefix cache', { cacheTokens: 512, prefixCaching: false, maxBatch: 5 }],
    ['room for everything', {}],
  ])('with %s', async (_, spec) => {
    const all = requests(24, 11)
    const calm = await openTiny({ prefixCaching: false })
    const alone = []
    for (const one of all) alone.push(essence(await calm.sample(one, call())))
    await calm.close()

    const model = await openTiny(spec)
    const next = random(5)
    const pending: Promise<Sample[]>[] = []
    const noise: Promise<unknown>[] = []
    for (const one of all) {
      pending.push(model.sample(one, call()))
      if (next() < 0.5) {
        const control = new AbortController()
        let seen = 0
        const limit = 1 + Math.floor(next() * 10)
        noise.push(
          model.sample({ ...one, params: { ...one.params, seed: 77 } }, call(control.signal), () => {
            if (++seen === limit) control.abort()
          }),
        )
      }
      for (let wait = Math.floor(next() * 6); wait > 0; wait--) await turn()
    }
    const together = await Promise.all(pending)
    await Promise.all(noise)
    for (const [i, samples] of together.entries()) expect(essence(samples), `request ${i}`).toEqual(alone[i])
    const { running, waiting, cacheTokensUsed } = model.stats()
    expect({ running, waiting, cacheTokensUsed }).toEqual({ running: 0, waiting: 0, cacheTokensUsed: 0 })
    await model.close()
  })

  it('with so many at once that every thread takes some of them through a whole step', async () => {
    const model = await openTiny({ prefixCaching: false })
    const all = Array.from({ length: 120 }, (_, i) =>
      request([7 + (i % 60), 9, 3 + (i % 5)], { seed: i, maxTokens: 6 }),
    )
    const together = await Promise.all(all.map((one) => model.sample(one, call())))
    for (const [i, one] of all.entries())
      expect(essence(await model.sample(one, call())), `request ${i}`).toEqual(essence(together[i]))
    await model.close()
  })

  // Few at a time read 16-bit weights where those are exact: bf16 and f16 files here, f32 in the first.
  it.each(tinyModels)('alone or scored as a whole: %s', async (name) => {
    const engine = new NativeEngine()
    const model = await engine.openSample({ path: fixture(name) }, call())
    const prompt = [8, 30, 21, 9]
    const [{ tokens, logprobs }] = await model.sample(request(prompt, { maxTokens: 60, seed: 4 }), call())
    const mask = new Uint8Array(60).fill(1)
    const all = Int32Array.from([...prompt, ...tokens])
    const [{ logprob }] = await model.score(
      [{ id: 'a', tokens: all, start: 4, mask, temperature: 1, columns: {} }],
      call(),
    )
    expect([...logprobs]).toEqual([...logprob!])
    await engine.close()
  })

  it('and the log-probs are those of the training pass, bit for bit', async () => {
    const engine = new NativeEngine()
    const trained = await engine.openTrain({ path: tiny }, call())
    const model = await engine.openSample({ path: tiny, shareWith: trained, cacheTokens: 256 }, call())
    const rows: Row[] = []
    const own: number[][] = []
    const asked = requests(12, 3).filter(({ params }) => params.temperature > 0)
    for (const [i, samples] of (await Promise.all(asked.map((one) => model.sample(one, call())))).entries()) {
      const { prompt, params } = asked[i]
      for (const { tokens, logprobs } of samples) {
        const mask = new Uint8Array(tokens.length).fill(1)
        rows.push({
          id: `${rows.length}`,
          tokens: Int32Array.from([...prompt, ...tokens]),
          start: prompt.length,
          mask,
          temperature: params.temperature,
          columns: {},
        })
        own.push([...logprobs])
      }
    }
    const scores = await trained.forward({ rows, tokenBudget: 300 }, { scores: ['logprob'] }, call())
    expect(own).toEqual(scores.map((score) => [...score.logprob!]))
    expect((await model.score(rows, call())).map((score) => [...score.logprob!])).toEqual(own)
    await engine.close()
  })
})
