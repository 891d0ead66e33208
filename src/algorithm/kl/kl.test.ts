import { describe, expect, it } from 'vitest'
import { experience } from '../../../test/algorithm/experiences.js'
import { KlController } from './controller.js'
import { applyKlPenalty } from './penalty.js'
import { klFns } from './registry.js'

const args = { adaptive: true, kl_coef: 0.1, target_kl: 0.5, horizon: 100 }

describe('KL coefficient', () => {
  it('stays when it is fixed', () => {
    const fixed = new KlController({ ...args, adaptive: false })
    fixed.update(5, 50)
    expect(fixed.coef).toBe(0.1)
  })

  it('grows above the target, shrinks below it, by at most 0.2·batch/horizon', () => {
    const adaptive = new KlController(args)
    adaptive.update(50, 10)
    expect(adaptive.coef).toBeCloseTo(0.1 * 1.02, 12)
    adaptive.update(0.45, 10)
    expect(adaptive.coef).toBeCloseTo(0.1 * 1.02 * (1 - 0.1 * 0.1), 12)
    adaptive.update(Number.NaN, 10)
    expect(adaptive.coef).toBeCloseTo(0.1 * 1.02 * 0.99, 12)
  })

  it('continues from a checkpoint', () => {
    const first = new KlController(args)
    first.update(1, 30)
    const second = new KlController(args)
    second.restore(first.state())
    expect(second.coef).toBe(first.coef)
    expect(() => second.restore({ kl_coef: Number.NaN })).toThrowError(/kl_coef/)
  })
})

describe('KL penalty', () => {
  const given = [
    experience(0, 0, 1, { refLogprobs: [-1, 3, -1.5] }),
    experience(0, 1, 2, { refLogprobs: [-0.5, 3, -1], tokenLevelReward: [0.5, 0, 1.5] }),
  ]

  it('lowers the reward of each token of the model, and reports', () => {
    const controller = new KlController(args)
    const { experiences, metrics } = applyKlPenalty(given, klFns.get('k1'), controller)
    expect([...experiences[0].tokenLevelReward!]).toEqual([-0.05, 0, 0.95].map((x) => expect.closeTo(x, 6)))
    expect([...experiences[1].tokenLevelReward!]).toEqual([0.5, 0, 1.5])
    expect(metrics.kl).toBeCloseTo(0.25, 6)
    expect(metrics.kl_coef).toBe(0.1)
    expect(controller.coef).toBeCloseTo(0.1 * (1 - 0.2 * 0.02), 12)
    expect([...given[1].tokenLevelReward!]).toEqual([0.5, 0, 1.5])
  })

  it('measures the policy that is trained where its log-probs are known', () => {
    const own = experience(0, 0, 1, { refLogprobs: [-1, 0, -1], oldLogprobs: [-1, 0, -0.5] })
    const { metrics } = applyKlPenalty([own], klFns.get('k1'), new KlController(args))
    expect(metrics.kl).toBeCloseTo(0.25, 6)
  })

  it('makes no reward of none: such an experience passes as it is and does not count', () => {
    const open = [undefined, Number.NaN].map((reward, run) => experience(0, run, reward, { refLogprobs: [9, 9, 9] }))
    const controller = new KlController(args)
    const { experiences, metrics } = applyKlPenalty([...open, ...given], klFns.get('k1'), controller)
    expect(experiences.slice(0, 2)).toEqual(open)
    const alone = new KlController(args)
    expect(metrics).toEqual(applyKlPenalty(given, klFns.get('k1'), alone).metrics)
    expect(controller.coef).toBe(alone.coef)
    expect(applyKlPenalty(open, klFns.get('k1'), controller).metrics).not.toHaveProperty('kl')
    expect(controller.coef).toBe(alone.coef)
  })

  it('none leaves everything as it is', () => {
    const { experiences, metrics } = applyKlPenalty(given, klFns.get('none'), new KlController(args))
    expect(experiences[0].tokenLevelReward).toBeUndefined()
    expect(metrics).toEqual({})
  })

  it('says when there is no reference', () => {
    const run = () => applyKlPenalty([experience(0, 0, 1)], klFns.get('k2'), new KlController(args))
    expect(run).toThrowError(/no reference log-probs/)
  })
})
