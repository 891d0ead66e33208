import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomBatch, scoresOf, type TestBatch, type TestScores } from '../../test/algorithm/batch.js'
import { AGG_MODES } from '../config/index.js'
import { evaluateLoss, type LossRow, silentRows } from '../graph/index.js'
import { buildCriticLoss } from './critic-loss.js'
import { klFns } from './kl/registry.js'
import { type BuiltLoss, buildLoss, type LossConfig } from './loss.js'
import { policyLossFns } from './policy-loss/registry.js'

const names = policyLossFns.names()
/** Every registered loss, every aggregation, with and without further terms. */
const anyConfig: fc.Arbitrary<LossConfig> = fc.record({
  policy_loss_fn: fc.constantFrom(...names),
  loss_agg_mode: fc.constantFrom(...AGG_MODES),
  kl_loss_fn: fc.constantFrom(...klFns.names()),
  kl_loss_fn_args: fc.constantFrom({}, { kl_coef: 0 }),
  entropy_loss_fn: fc.constantFrom('none', 'default'),
  entropy_loss_fn_args: fc.constantFrom({ entropy_coef: 0 }, { entropy_coef: 0.01 }),
})

/** Some rows get advantage 0 throughout, some at a few tokens only; some are without a bundle. */
function quietened(batch: TestBatch, turn: number): LossRow[] {
  return batch.rows.map((row, r) => {
    const advantage = Float32Array.from(row.columns.advantage as Float32Array, (a, i) =>
      (r + turn) % 3 === 0 || ((r + turn) % 3 === 1 && i % 2 === 0) ? 0 : a,
    )
    const bundle = (r + turn) % 4 < 2 ? row.bundle : undefined
    return { ...row, bundle, columns: { ...row.columns, advantage } }
  })
}

/** Scores far off as well: where ratios overflow and probabilities vanish. */
function stretched(scores: TestScores, factor: number): TestScores {
  return { ...scores, logprob: scores.logprob.map((x) => x * factor), value: scores.value.map((x) => x * factor) }
}

function silentRowsOf(loss: BuiltLoss, rows: LossRow[]): number[] {
  const silent = silentRows(loss.graph, rows, loss.norms(rows))
  return rows.flatMap((_, r) => (silent[r] ? [r] : []))
}

describe('rows without a gradient, known before the scores', () => {
  it('never has a gradient where it says there is none, for any loss and any scores', () => {
    let silentAll = 0
    fc.assert(
      fc.property(
        anyConfig,
        fc.nat(1e6),
        fc.nat(11),
        fc.constantFrom(1, 1e-6, 50, 1e4, 1e30),
        (config, seed, turn, by) => {
          const batch = randomBatch(seed)
          const rows = quietened(batch, turn)
          const loss = buildLoss(config)
          const scores = stretched(batch.scores, by)
          const silent = silentRowsOf(loss, rows)
          silentAll += silent.length
          const { grads } = evaluateLoss(loss, rows, loss.norms(rows), scores)
          const own = scoresOf({ rows, scores: { ...batch.scores, ...grads } }, silent)
          for (const kind of Object.keys(grads) as (keyof typeof grads)[]) {
            expect(own[kind as keyof TestScores].every((x) => x === 0)).toBe(true)
          }
        },
      ),
      { numRuns: 400 },
    )
    expect(silentAll).toBeGreaterThan(100)
  })

  // kl_cov pulls toward the old policy as well
  const pulledByAdvantage = names.filter((name) => !/^sft|dpo|kl_cov/.test(name))
  it.each(pulledByAdvantage)('%s: a group of equal rewards is recognized', (name) => {
    const batch = randomBatch(3)
    const rows = batch.rows.map((row) => ({
      ...row,
      mask: row.mask.fill(1),
      columns: { ...row.columns, expert: 0, advantage: new Float32Array(row.mask.length) },
    }))
    const loss = buildLoss({
      policy_loss_fn: name,
      entropy_loss_fn: 'default',
      entropy_loss_fn_args: { entropy_coef: 0 },
    })
    expect(silentRowsOf(loss, rows)).toHaveLength(rows.length)
    const pulled = buildLoss({
      policy_loss_fn: name,
      entropy_loss_fn: 'default',
      entropy_loss_fn_args: { entropy_coef: 1 },
    })
    expect(silentRowsOf(pulled, rows)).toEqual([])
    const kl = buildLoss({ policy_loss_fn: name, kl_loss_fn: 'k2' })
    expect(silentRowsOf(kl, rows)).toEqual([])
  })

  it('a critic is never silent', () => {
    const { rows } = randomBatch(5)
    const quiet = rows.map((row) => ({
      ...row,
      columns: { ...row.columns, return: new Float32Array(row.mask.length) },
    }))
    expect(silentRowsOf(buildCriticLoss({}), quiet)).toEqual([])
  })
})
