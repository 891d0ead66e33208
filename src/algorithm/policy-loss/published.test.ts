import { describe, expect, it } from 'vitest'
import { publishedBatch } from '../../../test/algorithm/batch.js'
import { evaluateLoss } from '../../graph/index.js'
import { buildLoss } from '../loss.js'

function run(policy_loss_fn: string, policy_loss_fn_args: Record<string, unknown> = {}) {
  const { rows, scores } = publishedBatch()
  const loss = buildLoss({ policy_loss_fn, policy_loss_fn_args })
  const { loss: value, metrics } = evaluateLoss(loss, rows, loss.norms(rows), scores)
  return { loss: value, ...Object.fromEntries(Object.entries(metrics).map(([name, metric]) => [name, metric.value])) }
}

describe('published numbers', () => {
  it('draws the published inputs', () => {
    const { rows } = publishedBatch()
    expect(rows.map((row) => row.columns.expert)).toEqual([0, 0, 1, 1, 1])
    expect(rows.reduce((sum, row) => sum + row.mask.reduce((a, b) => a + b, 0), 0)).toBe(48)
  })

  const cases: [string, Record<string, unknown>, Record<string, number>][] = [
    ['ppo', {}, { loss: 0.2688956, pg_clipfrac: 0.3541667, pg_clipfrac_lower: 0.0625, ppo_kl: -0.2166345 }],
    [
      'ppo',
      { enable_sequence_masking: true, delta_sequence_masking: 0.1 },
      // The published 8/48 also counts three tokens that are masked anyway.
      { loss: 0.2217568, 'seq_mask/masked_tokens': 5 / 48, 'seq_mask/mean_sequence_kl': -0.2102706 },
    ],
    ['gspo', {}, { loss: 0.2723511, pg_clipfrac: 0.375, ppo_kl_seq: -0.2102706 }],
    ['sft', {}, { loss: -0.0756019 }],
    ['opmd', {}, { loss: -0.00958995 }],
    // The published loss has no trust region; sapo.test.ts holds the one that is built.
    ['sapo', {}, { avg_soft_gate: 2.3191137, avg_ratio: 1.6307667, pos_adv_frac: 0.3958333 }],
    ['topr', {}, { loss: -0.0053642 }],
    ['cispo', {}, { loss: -0.0155645 }],
    ['sft_is', {}, { loss: -0.4619687 }],
    ['sft_phi', {}, { loss: 0.6554085 }],
    ['sppo', {}, { loss: 0.0104608 }],
    ['importance_sampling', {}, { loss: 0.1029666 }],
    ['rec', {}, { loss: -0.0191799 }],
  ]
  it.each(cases)('%s %j', (name, args, expected) => {
    const got = run(name, args) as Record<string, number>
    for (const [key, value] of Object.entries(expected))
      expect([key, got[key]]).toEqual([key, expect.closeTo(value, 6)])
  })

  it('r3l: attempts and examples apart, each row by its own length', () => {
    const { rows, scores } = publishedBatch()
    const width = scores.logprob.length / rows.length
    const means: number[][] = [[], []]
    for (const [r, { mask, columns }] of rows.entries()) {
      const weigh = (i: number) => (columns.expert ? 1 : (columns.advantage as Float32Array)[i])
      const all = Array.from(mask, (on, i) => (on ? -weigh(i) * scores.logprob[r * width + i] : 0))
      means[columns.expert ? 1 : 0].push(all.reduce((a, b) => a + b, 0) / mask.reduce((a, b) => a + b, 0))
    }
    const [attempts, examples] = means.map((part) => part.reduce((a, b) => a + b, 0) / part.length)
    expect(run('r3l')).toMatchObject({
      loss: expect.closeTo(attempts + examples, 6),
      pg_loss: expect.closeTo(attempts, 6),
      sft_loss: expect.closeTo(examples, 6),
    })
    expect(run('r3l', { sft_coef: 0.5 }).loss).toBeCloseTo(attempts + examples / 2, 6)
  })

  it('mix: the published numbers hold once the hand-typed sizes (all 1) are multiplied back in', () => {
    const got = run('mix') as Record<string, number>
    const [usual, expert] = [got['usual/pg_loss'], got['expert/sft_loss']]
    expect(got.loss).toBeCloseTo(0.9 * usual + 0.1 * expert, 12)
    expect(2 * usual).toBeCloseTo(0.6921211, 6)
    expect(3 * expert).toBeCloseTo(0.0691583, 6)
    expect(2 * got['usual/pg_clipfrac']).toBeCloseTo(0.7777778, 6)
    expect(2 * got['usual/ppo_kl']).toBeCloseTo(-1.0737696, 6)
    expect(2 * got['usual/pg_clipfrac_lower']).toBeCloseTo(0.2222222, 6)
  })
})
