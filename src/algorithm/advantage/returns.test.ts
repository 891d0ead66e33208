import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { experience } from '../../../test/algorithm/experiences.js'
import { advantageFns } from './registry.js'
import { gae, rewardToGo, tokenRewards, whiten } from './returns.js'

const random = () => 0
const numbers = (length: number) =>
  fc.array(fc.double({ min: -3, max: 3, noNaN: true }), { minLength: length, maxLength: length })
const cases = fc.integer({ min: 0, max: 14 }).chain((n) =>
  fc.record({
    rewards: numbers(n),
    values: numbers(n),
    mask: fc.array(fc.nat(1), { minLength: n, maxLength: n }).map((m) => Uint8Array.from(m)),
    gamma: fc.double({ min: 0, max: 1, noNaN: true }),
    lam: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
)

/** The model's actions in order, each with the rewards up to the next one. Written from the definition, O(n²). */
function actions({ rewards, values, mask }: { rewards: number[]; values: number[]; mask: Uint8Array }) {
  const at = [...mask.keys()].filter((t) => mask[t] === 1)
  return at.map((t, k) => {
    const until = at[k + 1] ?? mask.length
    return { t, reward: rewards.slice(t, until).reduce((a, b) => a + b, 0), value: values[t] }
  })
}

describe('returns against the definition', () => {
  it('GAE', () => {
    fc.assert(
      fc.property(cases, (input) => {
        const { gamma, lam, mask } = input
        const acts = actions(input)
        const got = gae(input.rewards, input.values, mask, gamma, lam)
        const expected = new Float64Array(mask.length)
        acts.forEach(({ t }, k) => {
          for (let j = k; j < acts.length; j++) {
            const delta = acts[j].reward + gamma * (acts[j + 1]?.value ?? 0) - acts[j].value
            expected[t] += (gamma * lam) ** (j - k) * delta
          }
        })
        expected.forEach((value, t) => {
          expect(got.advantages[t]).toBeCloseTo(value, 4)
          expect(got.returns[t]).toBeCloseTo(mask[t] ? value + input.values[t] : 0, 4)
        })
      }),
    )
  })

  it('reward to go', () => {
    fc.assert(
      fc.property(cases, (input) => {
        const acts = actions(input)
        const got = rewardToGo(input.rewards, input.mask, input.gamma)
        acts.forEach(({ t }, k) => {
          const expected = acts.slice(k).reduce((sum, act, j) => sum + input.gamma ** j * act.reward, 0)
          expect(got[t]).toBeCloseTo(expected, 4)
        })
      }),
    )
  })

  it('the reward of a sequence stands at its last token', () => {
    expect([...tokenRewards(experience(0, 0, 2))]).toEqual([0, 0, 2])
    expect([...tokenRewards(experience(0, 0, undefined))]).toEqual([0, 0, Number.NaN])
    expect([...tokenRewards(experience(0, 0, 2, { tokenLevelReward: [1, 2, 3] }))]).toEqual([1, 2, 3])
  })

  it('whitening: mean 0, unbiased variance 1, masked tokens 0; fewer than two tokens stay', () => {
    const rows = [
      { values: Float32Array.of(1, Number.NaN, 4), mask: Uint8Array.of(1, 0, 1) },
      { values: Float32Array.of(7), mask: Uint8Array.of(1) },
    ]
    whiten(rows)
    expect([...rows[0].values, ...rows[1].values]).toEqual([-1, 0, 0, 1].map((x) => expect.closeTo(x, 6)))
    const lone = [{ values: Float32Array.of(5, 3), mask: Uint8Array.of(0, 1) }]
    whiten(lone)
    expect([...lone[0].values]).toEqual([5, 3])
  })
})

describe('trainer-side functions on returns', () => {
  it('ppo: whitened GAE, returns before whitening', () => {
    const given = [experience(0, 0, 1, { values: [0.5, 9, 0.25] }), experience(0, 1, 0, { values: [0.1, 9, 0] })]
    const { experiences } = advantageFns.get('ppo').compute(given, { gamma: 1, lam: 1 }, { random })
    expect([...experiences[0].returns!]).toEqual([1, 0, 1])
    const flat = experiences.flatMap((e) => [e.advantages![0], e.advantages![2]])
    const raw = [0.5, 0.75, -0.1, 0]
    const mean = raw.reduce((a, b) => a + b) / 4
    const std = Math.sqrt(raw.reduce((s, x) => s + (x - mean) ** 2, 0) / 3 + 1e-8)
    expect(flat).toEqual(raw.map((x) => expect.closeTo((x - mean) / std, 5)))
  })

  it('ppo says which input is missing', () => {
    const compute = () => advantageFns.get('ppo').compute([experience(0, 0, 1)], { gamma: 1, lam: 1 }, { random })
    expect(compute).toThrowError(expect.objectContaining({ code: 'algorithm/missing-input', path: 'values' }))
  })

  it('reinforceplusplus: whitened reward to go', () => {
    const given = [experience(0, 0, 1), experience(0, 1, 0)]
    const { experiences } = advantageFns.get('reinforceplusplus').compute(given, { gamma: 0.5 }, { random })
    expect([...experiences[0].returns!]).toEqual([0.5, 0, 1])
    expect(experiences[0].advantages![2]).toBeGreaterThan(experiences[0].advantages![0])
    expect(experiences.flatMap((e) => [...e.advantages!]).reduce((a, b) => a + b)).toBeCloseTo(0, 5)
  })

  it('remax: reward to go minus the greedy reward', () => {
    const given = [experience(0, 0, 1, { columns: { reward_baseline: 0.25 } })]
    const { experiences } = advantageFns.get('remax').compute(given, {}, { random })
    expect([...experiences[0].advantages!]).toEqual([0.75, 0, 0.75])
    expect(() => advantageFns.get('remax').compute([experience(0, 0, 1)], {}, { random })).toThrowError(
      /reward baseline/,
    )
  })
})
