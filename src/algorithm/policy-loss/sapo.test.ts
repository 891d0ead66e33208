import { describe, expect, it } from 'vitest'
import { evaluateLoss, type LossRow } from '../../graph/index.js'
import { buildLoss } from '../loss.js'

/** One row per pair of advantage and ratio, all in one batch. */
function run(points: readonly (readonly [number, number])[], args: Record<string, unknown> = {}) {
  const rows: LossRow[] = points.map(([advantage, ratio]) => ({
    mask: Uint8Array.of(1),
    columns: { advantage: Float32Array.of(advantage), old: Float32Array.of(-2 - Math.log(ratio)) },
  }))
  const loss = buildLoss({ policy_loss_fn: 'sapo', policy_loss_fn_args: args })
  return evaluateLoss(loss, rows, loss.norms(rows), { logprob: new Float32Array(points.length).fill(-2) })
}

const sigma = (x: number) => 1 / (1 + Math.exp(-x))

describe('sapo', () => {
  it('is the gate itself, and its slope is 4σ(1 − σ)ρ', () => {
    const points = [[1, 1], [0.5, 1.7], [2, 0.4], [-1, 1], [-0.5, 2.5], [-2, 0.3]] as const // biome-ignore format: short
    const { loss, grads } = run(points, { tau_pos: 1.5, tau_neg: 3 })
    let value = 0
    const slopes = points.map(([a, ratio]) => {
      const tau = a > 0 ? 1.5 : 3
      const p = sigma(tau * (ratio - 1))
      value -= (a * 4 * p) / tau / points.length
      return expect.closeTo((-a * 4 * p * (1 - p) * ratio) / points.length, 6)
    })
    expect(loss).toBeCloseTo(value, 6)
    expect([...grads.logprob!]).toEqual(slopes)
  })

  it('is the policy gradient at ratio 1, and lets go of a token that has moved far', () => {
    const [at, far, further] = [1, 10, 30].map((ratio) => Math.abs(run([[1, ratio]]).grads.logprob![0]))
    expect(at).toBeCloseTo(1, 6)
    expect(far).toBeLessThan(0.01)
    expect(further).toBeLessThan(1e-9)
    expect(run([[-1, 1e12]]).grads.logprob![0]).toBe(0)
  })
})
