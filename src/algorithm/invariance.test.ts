import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomBatch, scoresOf, type TestBatch } from '../../test/algorithm/batch.js'
import { naiveLoss } from '../../test/algorithm/naive.js'
import { AGG_MODES } from '../config/index.js'
import { mergeMetrics } from '../engine/metrics.js'
import { evaluateLoss, type ScoreKind } from '../graph/index.js'
import { buildCriticLoss } from './critic-loss.js'
import { klFns } from './kl/registry.js'
import { type BuiltLoss, buildLoss } from './loss.js'
import { policyLossFns } from './policy-loss/registry.js'

/** Variants whose arguments change the shape of the graph. */
const VARIANTS: Record<string, Record<string, unknown>[]> = {
  ppo: [{}, { enable_sequence_masking: true }, { fallback_to_policy_gradient: true }],
  cispo: [{}, { enable_mask_clip: true, mask_clip_range_low: 0.1, mask_clip_range_high: 0.1 }],
  sft_phi: [{}, { cutoff_prob: 0.5 }],
  mix_chord: [{ mu_warmup_steps: 5, mu_decay_steps: 10, mu_peak: 0.6 }, { enable_phi_function: false }],
  dpo: [{ label_smoothing: 0.1 }],
  dppo_tv: [{ clip_range: 0.05 }],
  dppo_kl: [{ clip_range: 0.01 }],
  clip_cov: [{ clip_cov_ratio: 0.2, clip_cov_lb: -0.1, clip_cov_ub: 0.5 }],
  kl_cov: [{ kl_cov_ratio: 0.3 }],
  m2po: [{}, { m2_tokens: 'all', m2_threshold: 0.3 }],
  rec: [
    {},
    { clip_mode: 'two-side', weight: 'importance_sampling' },
    { clip_mode: 'one-side', weight: 'advantage' },
    { clip_mode: 'ring', regularizer: 'k2', regularizer_coef: 0.3 },
    { clip_mode: 'gspo-one-side', weight: 'gspo_importance_sampling' },
    { clip_mode: 'none', weight: 'gspo_importance_sampling', regularizer: 'forward-kl', regularizer_coef: 0.1 },
  ],
}

const BATCH_WIDE = ['clip_cov', 'kl_cov', 'm2po']

const cases = policyLossFns
  .names()
  .flatMap((name) => (VARIANTS[name] ?? [{}]).flatMap((args) => AGG_MODES.map((mode) => ({ name, args, mode }))))
const build = (name: string, args: object, mode: (typeof AGG_MODES)[number]) =>
  buildLoss({
    policy_loss_fn: name,
    policy_loss_fn_args: { ...args },
    loss_agg_mode: mode,
    kl_loss_fn: 'k3',
    kl_loss_fn_args: { kl_coef: 0.2 },
    entropy_loss_fn: 'mix',
    entropy_loss_fn_args: { entropy_coef: 0.1 },
  })

/** Evaluates the rows in the given micro-batches and puts the pieces together. */
function inPieces(loss: BuiltLoss, batch: TestBatch, pieces: readonly (readonly number[])[]) {
  const norms = loss.norms(batch.rows)
  const order = pieces.flat()
  const parts = pieces.map((piece) =>
    evaluateLoss(loss, piece.map((r) => batch.rows[r]), norms, scoresOf(batch, piece)),
  ) // biome-ignore format: short
  const grads: Partial<Record<ScoreKind, number[][]>> = {}
  for (const kind of ['logprob', 'entropy', 'value'] as const) {
    const rows: number[][] = batch.rows.map(() => [])
    pieces.forEach((piece, k) => {
      let at = 0
      for (const r of piece) {
        const length = batch.rows[r].mask.length
        rows[r] = [...(parts[k].grads[kind]?.subarray(at, at + length) ?? [])]
        at += length
      }
    })
    grads[kind] = rows
  }
  expect([...order].sort((a, b) => a - b)).toEqual(batch.rows.map((_, r) => r))
  return {
    loss: parts.reduce((sum, part) => sum + part.loss, 0),
    grads,
    metrics: mergeMetrics(parts.map((p) => p.metrics)),
  }
}

const furthest = (a: readonly number[], b: readonly number[]) =>
  a.length === b.length ? a.reduce((far, x, i) => Math.max(far, Math.abs(x - b[i])), 0) : Number.POSITIVE_INFINITY

function expectSplitInvariant(loss: BuiltLoss): void {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1e6 }),
      fc.array(fc.nat(2), { minLength: 4, maxLength: 4 }),
      (seed, places) => {
        const batch = randomBatch(seed)
        const all = batch.rows.map((_, r) => r)
        const whole = inPieces(loss, batch, [all])
        // Bundles stay together: each of the four pairs goes to one of three micro-batches.
        const pieces = [0, 1, 2]
          .map((piece) => all.filter((r) => places[r >> 1] === piece))
          .filter((rows) => rows.length > 0)
        const split = inPieces(loss, batch, pieces)
        expect(split.loss).toBeCloseTo(whole.loss, 10)
        for (const kind of loss.wants) {
          expect(furthest(split.grads[kind]!.flat(), whole.grads[kind]!.flat())).toBeLessThan(1e-6)
        }
        const names = Object.keys(whole.metrics)
        const values = (from: typeof whole) => names.map((name) => from.metrics[name].value)
        expect(furthest(values(split), values(whole))).toBeLessThan(1e-8)
      },
    ),
    { numRuns: 12 },
  )
}

describe('any split into micro-batches gives the same loss, gradient and metrics', () => {
  it.each(cases)('$name $args $mode', ({ name, args, mode }) => {
    const loss = build(name, args, mode)
    const coupling = BATCH_WIDE.includes(name) ? 'batch' : name === 'dpo' ? 'bundle' : 'row'
    expect(loss.coupling).toBe(coupling)
    // engines never evaluate a part of what the whole batch couples
    if (coupling !== 'batch') expectSplitInvariant(loss)
  })
  it.each(AGG_MODES)('critic %s', (mode) => expectSplitInvariant(buildCriticLoss({ loss_agg_mode: mode })))
})

describe('gradient of every loss against central differences', () => {
  const check = (loss: BuiltLoss) => {
    const batch = randomBatch(11, 2)
    const norms = loss.norms(batch.rows)
    const got = evaluateLoss(loss, batch.rows, norms, batch.scores)
    const wide = Object.fromEntries(Object.entries(batch.scores).map(([k, v]) => [k, Float64Array.from(v)]))
    const frozen = naiveLoss(loss.graph, batch.rows, norms, wide as never)
    expect(got.loss).toBeCloseTo(frozen(loss.graph.loss), 9)
    const active = batch.rows.flatMap((row) => [...row.mask])
    for (const kind of loss.wants) {
      const slopes = active.map((m, i) => {
        const at = (shift: number) => {
          const moved = { ...wide, [kind]: wide[kind].map((x, k) => (k === i ? x + shift : x)) }
          return naiveLoss(loss.graph, batch.rows, norms, moved as never, frozen)(loss.graph.loss)
        }
        return m ? (at(1e-6) - at(-1e-6)) / 2e-6 : 0
      })
      expect(furthest([...(got.grads[kind] ?? slopes.map(() => 0))], slopes)).toBeLessThan(5e-6)
    }
  }
  it.each(cases.filter(({ mode }) => mode === 'token-mean'))('$name $args', ({ name, args, mode }) =>
    check(build(name, args, mode)),
  )
  it.each(klFns.names())('KL %s', (kl_loss_fn) =>
    check(buildLoss({ policy_loss_fn: 'sft', kl_loss_fn, kl_loss_fn_args: { kl_coef: 1 } })),
  )
  it('critic', () => check(buildCriticLoss()))
})
