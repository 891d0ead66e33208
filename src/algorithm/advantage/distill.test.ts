import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { experience } from '../../../test/algorithm/experiences.js'
import { jsdToken } from './jsd.js'
import { advantageFns } from './registry.js'

const random = () => 0
function run(name: string, experiences: Parameters<ReturnType<typeof advantageFns.get>['compute']>[0], args = {}) {
  const fn = advantageFns.get(name)
  return fn.compute(experiences, advantageFns.parse(name, args, 'args'), { random })
}

describe('on_policy_distill', () => {
  it('is teacher minus student, and needs no reward', () => {
    const given = [experience(0, 0, undefined, { teacherLogprobs: [-1, 7, -0.5] })]
    const { experiences, metrics } = run('on_policy_distill', given, { kl_coef: 2 })
    expect([...experiences[0].advantages!]).toEqual([-1, 0, 1])
    expect(metrics).toEqual({ 'kl/mean': 0, 'kl/std': 0, 'advantages/mean': 0 })
  })

  it('reports sums over sequences, and the unbiased deviation of those', () => {
    const given = [
      experience(0, 0, undefined, { teacherLogprobs: [-1.5, 7, -2] }),
      experience(0, 1, undefined, { teacherLogprobs: [-0.5, 7, -2] }),
    ]
    const { metrics } = run('on_policy_distill', given, { kl_coef: 2 })
    expect(metrics).toEqual({ 'kl/mean': 1.5, 'kl/std': expect.closeTo(Math.SQRT1_2, 12), 'advantages/mean': -3 })
    const { metrics: mixed } = run('jsd', given, { lambda_coef: 0 })
    expect(mixed['advantages/mean']).toBe(-1.5)
  })

  it('measures against the log-probs of the trainer if there are some', () => {
    const given = [experience(0, 0, undefined, { teacherLogprobs: [-1, 7, -0.5], oldLogprobs: [-1, 0, -1] })]
    expect([...run('on_policy_distill', given).experiences[0].advantages!]).toEqual([0, 0, 0.5])
  })

  it('says when there is no teacher', () => {
    expect(() => run('on_policy_distill', [experience(0, 0, 1)])).toThrowError(/no teacherLogprobs/)
  })
})

describe('jsd', () => {
  it('pushes toward the teacher on both sides, for every mixture', () => {
    for (const beta of [0, 0.2, 0.5, 0.9, 1]) {
      expect(jsdToken(0.7, beta).weight).toBeGreaterThan(0)
      expect(jsdToken(-0.7, beta).weight).toBeLessThan(0)
      expect(jsdToken(0, beta).weight).toBe(0)
    }
  })

  it('estimates a divergence: never negative, 0 when both agree', () => {
    fc.assert(
      fc.property(
        fc.double({ min: -15, max: 15, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (d, beta) => {
          expect(jsdToken(d, beta).estimate).toBeGreaterThanOrEqual(-1e-9)
        },
      ),
    )
    expect(jsdToken(0, 0.3).estimate).toBe(0)
  })

  /** On a small vocabulary the expected policy gradient can be written out and compared with the true gradient. */
  it.each([0, 0.3, 0.5, 0.8, 1])('is the policy gradient of the divergence (β = %f)', (beta) => {
    const teacher = [0.5, 0.3, 0.2]
    const logits = [0.1, -0.4, 0.6]
    const soft = (z: number[]) => {
      const e = z.map(Math.exp)
      const sum = e.reduce((a, b) => a + b)
      return e.map((x) => x / sum)
    }
    const divergence = (z: number[]) => {
      const s = soft(z)
      const kl = (p: number[], q: number[]) => p.reduce((sum, x, i) => sum + x * Math.log(x / q[i]), 0)
      if (beta === 0) return kl(s, teacher)
      if (beta === 1) return kl(teacher, s)
      const m = s.map((x, i) => beta * teacher[i] + (1 - beta) * x)
      return beta * kl(teacher, m) + (1 - beta) * kl(s, m)
    }
    const s = soft(logits)
    logits.forEach((_, k) => {
      const moved = (h: number) => logits.map((z, i) => (i === k ? z + h : z))
      const slope = (divergence(moved(1e-5)) - divergence(moved(-1e-5))) / 2e-5
      // −E_s[A·∂log s/∂z_k] must be the slope: descending the loss −A·logp descends the divergence.
      const policy = s.reduce(
        (sum, p, i) => sum - p * jsdToken(Math.log(teacher[i] / p), beta).weight * ((i === k ? 1 : 0) - s[k]),
        0,
      )
      expect(policy).toBeCloseTo(slope, 6)
    })
    const expected = s.reduce((sum, p, i) => sum + p * jsdToken(Math.log(teacher[i] / p), beta).estimate, 0)
    expect(expected).toBeCloseTo(divergence(logits), 10)
  })

  it('reports and scales', () => {
    const given = [
      experience(0, 0, undefined, { teacherLogprobs: [-0.5, 0, -1] }),
      experience(0, 1, undefined, { teacherLogprobs: [0, 0, 0] }),
    ]
    const { experiences, metrics } = run('jsd', given, { kl_coef: 2, temperature: 2 })
    expect([...experiences[0].advantages!]).toEqual([0, 0, 0])
    expect(experiences[1].advantages![2]).toBeCloseTo(2 * jsdToken(0.5, 0.5).weight, 6)
    expect(metrics['jsd/mean']).toBeCloseTo((jsdToken(0.25, 0.5).estimate + jsdToken(0.5, 0.5).estimate) / 2, 9)
    expect(metrics['advantages/mean']).toBeGreaterThan(0)
  })
})

describe('token clipping', () => {
  /** Ten rows of a task; the first token of the last (worst) row is an outlier. */
  const rows = (necs?: number) =>
    Array.from({ length: 10 }, (_, r) =>
      experience(0, r, r === 9 ? 0 : 1, {
        logprobs: r === 9 ? [-0.1, -0.5, -0.5] : [-0.5, -0.5, -0.5],
        columns: {
          entropy: Float32Array.of(r === 9 ? -3 : 1, 1, 1),
          ...(necs === undefined ? {} : { necs: Float32Array.of(r === 9 ? necs : 0, 0, 0) }),
        },
      }),
    )

  it('clipb takes unlikely outliers of bad answers out of the mask', () => {
    const { experiences, metrics } = run('clipb', rows())
    expect(experiences.map((e) => [...e.actionMask])).toEqual([...Array(9).fill([1, 0, 1]), [0, 0, 1]])
    expect(metrics).toMatchObject({ frac_clipped: 0.05, frac_clipped_neg: 0.5, frac_clipped_pos: 0 })
    const s = (logp: number, h: number) => Math.exp(logp) * (h + logp)
    expect(metrics.ES).toBeCloseTo((19 * s(-0.5, 1) + s(-0.1, -3)) / 20, 6)
    expect(run('clipb', rows().slice(0, 9)).metrics.frac_clipped).toBe(0)
  })

  it('clipv needs its column, and clips few', () => {
    expect(() => run('clipv', rows())).toThrowError(expect.objectContaining({ path: 'columns.necs' }))
    const { experiences, metrics } = run('clipv', rows(50), { mu: 1, max_frac: 0.01 })
    expect(metrics.frac_clipped).toBe(0.05)
    expect([...experiences[9].actionMask]).toEqual([0, 0, 1])
    expect(metrics.stdD).toBeGreaterThan(0)
  })

  it('clipv clips nothing where no token stands out', () => {
    const same = [0, 1].map((reward, run) =>
      experience(0, run, reward, {
        logprobs: [-1, -1, -1],
        columns: { entropy: Float32Array.of(1, 1, 1), necs: Float32Array.of(5, 5, 5) },
      }),
    )
    const { experiences, metrics } = run('clipv', same, { max_frac: 1 })
    expect(metrics).toMatchObject({ stdD: 0, frac_clipped: 0 })
    expect(experiences.map((e) => [...e.actionMask])).toEqual(same.map((e) => [...e.actionMask]))
  })

  it('needs entropies', () => {
    expect(() => run('clipb', [experience(0, 0, 1)])).toThrowError(expect.objectContaining({ path: 'columns.entropy' }))
  })
})
