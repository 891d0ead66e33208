import { describe, expect, it } from 'vitest'
import { experience } from '../../../test/algorithm/experiences.js'
import { rolloutCorrectionArgs } from './args.js'
import { correctRollout } from './correct.js'

/** Log-ratios old − rollout: the middle token is not the model's. */
const given = (...d: number[][]) =>
  d.map(([a, b], r) =>
    experience(0, r, 1, { logprobs: [-1, -1, -1], oldLogprobs: [a - 1, 50, b - 1], advantages: [1, 0, -2] }),
  )
const run = (args: object, ...d: number[][]) => correctRollout(given(...d), rolloutCorrectionArgs.parse(args))
const close = (values: number[]) => values.map((x) => expect.closeTo(x, 5))

describe('rollout correction', () => {
  it('off: only reports the mismatch', () => {
    const { experiences, metrics } = run({}, [0.5, -0.1])
    expect([...experiences[0].advantages!]).toEqual([1, 0, -2])
    expect(metrics['rollout_corr/kl']).toBeCloseTo(-0.2, 5)
    expect(metrics['rollout_corr/rollout_is_mean']).toBe(1)
  })

  it('weights tokens by the truncated ratio', () => {
    const { experiences, metrics } = run({ rollout_is: 'token' }, [0.3, 3])
    expect([...experiences[0].advantages!]).toEqual(close([Math.exp(0.3), 0, -4]))
    // The cap of 2 would hide how far the two are apart.
    expect(metrics['rollout_corr/rollout_is_max']).toBeCloseTo(Math.exp(3), 4)
    expect(metrics['rollout_corr/rollout_is_mean']).toBeCloseTo((Math.exp(0.3) + Math.exp(3)) / 2, 4)
  })

  it('normalizes weights of sequences over sequences, whatever their length', () => {
    const long = experience(0, 0, 1, { logprobs: [-1, -1, -1], oldLogprobs: [-0.9, 50, -0.9], advantages: [1, 0, 1] })
    const short = {
      ...experience(0, 1, 1, { logprobs: [-1, -1, -1], oldLogprobs: [-1.4, 50, -1], advantages: [1, 0, 1] }),
    }
    short.actionMask = Uint8Array.of(1, 0, 0)
    const of = (rollout_is: string) => {
      const args = rolloutCorrectionArgs.parse({ rollout_is, rollout_is_batch_normalize: true })
      return correctRollout([long, short], args).experiences.map((e) => e.advantages![0])
    }
    const [a, b, c] = [Math.exp(0.2), Math.exp(-0.4), Math.exp(0.1)]
    expect(of('sequence')).toEqual(close([a / ((a + b) / 2), b / ((a + b) / 2)]))
    expect(of('token')).toEqual(close([c / ((2 * c + b) / 3), b / ((2 * c + b) / 3)]))
  })

  it('weights sequences by the truncated product, normalized if asked', () => {
    const [w0, w1] = [Math.exp(0.2), Math.exp(-0.5)]
    expect([...run({ rollout_is: 'sequence' }, [0.3, -0.1], [-0.5, 0]).experiences[1].advantages!]).toEqual(
      close([w1, 0, -2 * w1]),
    )
    const normed = run({ rollout_is: 'sequence', rollout_is_batch_normalize: true }, [0.3, -0.1], [-0.5, 0])
    expect(normed.experiences[0].advantages![0]).toBeCloseTo((2 * w0) / (w0 + w1), 5)
  })

  const masks = (args: object, ...d: number[][]) => run(args, ...d).experiences.map((e) => [...e.actionMask])
  it('rejects tokens, sequences, and by the geometric mean', () => {
    const d = [
      [1, 0],
      [-0.6, -0.6],
      [0.1, 0],
    ]
    expect(masks({ rollout_rs: 'token' }, ...d)).toEqual([
      [0, 0, 1],
      [1, 0, 1],
      [1, 0, 1],
    ])
    expect(masks({ rollout_rs: 'sequence' }, ...d)).toEqual([
      [0, 0, 0],
      [0, 0, 0],
      [1, 0, 1],
    ])
    expect(masks({ rollout_rs: 'geometric' }, ...d)).toEqual([
      [1, 0, 1],
      [1, 0, 1],
      [1, 0, 1],
    ])
    expect(masks({ rollout_rs: 'geometric', rollout_rs_threshold: 1.2 }, ...d)).toEqual([
      [0, 0, 0],
      [0, 0, 0],
      [1, 0, 1],
    ])
    expect(masks({ rollout_rs: 'token', rollout_rs_threshold: 3, rollout_rs_threshold_lower: 0.9 }, ...d)[1]).toEqual([
      0, 0, 0,
    ])
    expect(run({ rollout_rs: 'token' }, ...d).metrics['rollout_corr/rollout_rs_masked_fraction']).toBeCloseTo(1 / 6, 9)
  })

  it('lets one impossible token veto its sequence', () => {
    expect(masks({ rollout_token_veto_threshold: 1e-3 }, [-8, 0], [-5, 0])).toEqual([
      [0, 0, 0],
      [1, 0, 1],
    ])
  })

  it('says what it needs', () => {
    expect(() => correctRollout([experience(0, 0, 1)], rolloutCorrectionArgs.parse({}))).toThrowError(
      /log-probs of the trainer/,
    )
    expect(rolloutCorrectionArgs.safeParse({ bypass_mode: true, rollout_is: 'token' }).success).toBe(false)
    expect(rolloutCorrectionArgs.safeParse({ bypass_mode: true }).success).toBe(true)
  })
})
