import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { AGG_MODES, buildLoss, klFns, policyLossFns } from '../../src/algorithm/index.js'
import { defineLoss, evaluateLoss, type LossRow, serializeGraph } from '../../src/graph/index.js'
import { randomBatch } from '../algorithm/batch.js'

const python = resolve(import.meta.dirname, '../../.venv/bin/python')
const hasTorch = existsSync(python) && spawnSync(python, ['-c', 'import torch']).status === 0

const ARGS: Record<string, Record<string, unknown>[]> = {
  ppo: [{}, { clip_range_high: 0.5, enable_sequence_masking: true }, { fallback_to_policy_gradient: true }],
  cispo: [{}, { enable_mask_clip: true, mask_clip_range_low: 0.1, mask_clip_range_high: 0.1 }],
  sft_phi: [{}, { cutoff_prob: 0.5 }],
  mix_chord: [{ mu_warmup_steps: 5, mu_decay_steps: 10, mu_peak: 0.6 }, { enable_phi_function: false }],
  dpo: [{ label_smoothing: 0.1 }],
  rec: [
    {},
    { clip_mode: 'two-side', weight: 'importance_sampling' },
    { clip_mode: 'one-side', weight: 'advantage' },
    { clip_mode: 'ring', regularizer: 'k2', regularizer_coef: 0.3 },
    {
      clip_mode: 'gspo-one-side',
      weight: 'gspo_importance_sampling',
      regularizer: 'forward-kl',
      regularizer_coef: 0.1,
    },
  ],
}
const kls = klFns.names()
const cases = policyLossFns.names().flatMap((policy, p) =>
  (ARGS[policy] ?? [{}]).flatMap((args, a) =>
    AGG_MODES.map((mode, m) => ({
      policy,
      args,
      mode,
      kl: kls[(p + a + m) % kls.length],
      kl_coef: 0.2,
      entropy_coef: 0.1,
    })),
  ),
)

interface Numbers {
  loss: number
  grads: Record<string, number[]>
  metrics?: Record<string, number>
}

/** One branch overflows and divides by zero; the other is taken. */
function unselected() {
  const loss = defineLoss((g) => {
    const wild = g.logprob.mul(1e4).neg().exp().div(g.logprob.sub(g.logprob)).log()
    return g.column('advantage').lt(100).where(g.logprob.square(), wild).total()
  })
  return { loss, batch: randomBatch(77) }
}

const furthest = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a, (x, i) => Math.abs(x - b[i])).reduce((far, d) => Math.max(far, d), 0)

describe.skipIf(!hasTorch)('losses against PyTorch autograd (skipped where .venv has no torch)', () => {
  let answers: { graph: Numbers; formula: Numbers }[] = []
  const ours = cases.map((formula, k) => {
    const batch = randomBatch(100 + k)
    const loss = buildLoss({
      policy_loss_fn: formula.policy,
      policy_loss_fn_args: { ...formula.args, ...(formula.policy === 'dpo' ? {} : { loss_agg_mode: formula.mode }) },
      loss_agg_mode: formula.mode,
      kl_loss_fn: formula.kl,
      kl_loss_fn_args: { kl_coef: formula.kl_coef },
      entropy_loss_fn: 'default',
      entropy_loss_fn_args: { entropy_coef: formula.entropy_coef },
    })
    const norms = loss.norms(batch.rows)
    return { formula, batch, loss, norms, got: evaluateLoss(loss, batch.rows, norms, batch.scores) }
  })

  beforeAll(() => {
    const plain = (row: LossRow) => ({
      mask: [...row.mask],
      bundle: row.bundle,
      columns: Object.fromEntries(Object.entries(row.columns).map(([k, v]) => [k, typeof v === 'number' ? v : [...v]])),
    })
    const wild = { ...unselected(), formula: undefined, norms: {} }
    const input = [...ours, wild].map(({ formula, batch, loss, norms }) => ({
      formula,
      norms,
      graph: JSON.parse(serializeGraph(loss.graph)),
      rows: batch.rows.map(plain),
      scores: { logprob: [...batch.scores.logprob], entropy: [...batch.scores.entropy] },
    }))
    const run = spawnSync(python, [join(import.meta.dirname, 'compare.py')], {
      input: JSON.stringify(input),
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
    })
    if (run.status !== 0) throw new Error(run.stderr)
    answers = JSON.parse(run.stdout)
  }, 120_000)

  it('agrees that an unselected branch gives nothing, however wild', () => {
    const { loss, batch } = unselected()
    const got = evaluateLoss(loss, batch.rows, {}, batch.scores)
    const { graph } = answers[ours.length]
    expect(graph.loss).toBeCloseTo(got.loss, 9)
    expect(furthest(got.grads.logprob!, graph.grads.logprob)).toBeLessThan(1e-6)
  })

  it.each(ours.map(({ formula }, k) => ({ ...formula, k })))('$policy $args $mode + $kl', ({ k }) => {
    const { got } = ours[k]
    const { graph, formula } = answers[k]
    for (const theirs of [graph, formula]) {
      expect(got.loss).toBeCloseTo(theirs.loss, 9)
      expect(furthest(got.grads.logprob!, theirs.grads.logprob)).toBeLessThan(1e-6)
      expect(furthest(got.grads.entropy!, theirs.grads.entropy)).toBeLessThan(1e-6)
    }
    for (const [name, value] of Object.entries(graph.metrics!)) {
      expect([name, got.metrics[name].value]).toEqual([name, expect.closeTo(value, 9)])
    }
  })
})
