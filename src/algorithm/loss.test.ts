import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { publishedBatch, randomBatch } from '../../test/algorithm/batch.js'
import { AGG_MODES } from '../config/index.js'
import { evaluateLoss, type LossRow } from '../graph/index.js'
import { advantageFns } from './advantage/registry.js'
import { buildCriticLoss } from './critic-loss.js'
import { entropyLossFns } from './entropy/registry.js'
import { klFns } from './kl/registry.js'
import { buildLoss, type LossConfig } from './loss.js'
import { chordMu } from './policy-loss/mix-chord.js'
import { policyLossFns } from './policy-loss/registry.js'
import { sampleStrategies } from './sample-strategy/registry.js'

function run(config: LossConfig, { rows, scores } = publishedBatch(), options = {}) {
  const loss = buildLoss(config, options)
  return evaluateLoss(loss, rows, loss.norms(rows), scores)
}

describe('arguments', () => {
  const defaults = (name: string, args = {}) => policyLossFns.parse(name, args, 'policy_loss_fn_args')

  it('partial arguments take the documented defaults', () => {
    expect(defaults('ppo', { clip_ratio_c: 5 })).toMatchObject({
      clip_range: 0.2,
      clip_range_low: 0.2,
      clip_range_high: 0.2,
    })
    expect(defaults('rec', { clip_mode: 'ring' })).toMatchObject({ epsilon_low_prime: 0.6, epsilon_high_prime: 2 })
    expect(advantageFns.parse('clipv', {}, 'args')).toMatchObject({ mu: 8.5 })
  })

  it('clip_range_low and clip_range_high override clip_range', () => {
    expect(defaults('ppo', { clip_range: 0.3, clip_range_high: 0.28 })).toMatchObject({
      clip_range_low: 0.3,
      clip_range_high: 0.28,
    })
    expect(defaults('ppo', { clip_range: null, clip_range_low: 0.1, clip_range_high: 0.28 })).toMatchObject({
      clip_range_low: 0.1,
    })
    expect(defaults('gspo')).toMatchObject({ clip_range_low: 3e-4, clip_range_high: 4e-4 })
    expect(defaults('gspo', { clip_range: 0.01 })).toMatchObject({ clip_range_low: 0.01, clip_range_high: 0.01 })
    expect(defaults('gspo', { clip_range: 0.01, clip_range_low: 0.02 })).toMatchObject({
      clip_range_low: 0.02,
      clip_range_high: 0.01,
    })
  })

  it.each([
    ['ppo', { clip_rang: 0.1 }, /clip_rang/],
    ['ppo', { clip_range: null }, /both clip_range_low and clip_range_high/],
    ['ppo', { clip_ratio_c: 1 }, /above 1/],
    ['rec', { epsilon_low: 2 }, /epsilon_low/],
    ['mix', { mu: 2 }, /mu/],
  ])('%s %j is refused', (name, args, message) => {
    expect(() => defaults(name, args)).toThrowError(message)
  })

  it('adaptive KL needs target and horizon', () => {
    expect(() => klFns.parse('k2', { adaptive: true, horizon: 10 }, 'args')).toThrowError(/target_kl/)
    expect(() => klFns.parse('k2', { adaptive: true, target_kl: 0.1 }, 'args')).toThrowError(/horizon/)
  })

  it('every schema has a default for everything, survives its own output, and has a JSON form', () => {
    const all = [policyLossFns, advantageFns, klFns, entropyLossFns, sampleStrategies]
    for (const registry of all) {
      for (const name of registry.names()) {
        const { args, doc } = registry.get(name)
        const once = args.parse({})
        expect([name, args.parse(once)]).toEqual([name, once])
        expect(JSON.parse(JSON.stringify(z.toJSONSchema(args, { io: 'input' })))).toMatchObject({ type: 'object' })
        expect(doc.length).toBeGreaterThan(3)
      }
    }
  })
})

describe('aggregation', () => {
  const batch = publishedBatch()
  const tokens = batch.rows.map((row, r) =>
    [...row.mask].flatMap((m, i) => (m ? [-batch.scores.logprob[r * 20 + i]] : [])),
  )
  const sum = (x: number[]) => x.reduce((a, b) => a + b, 0)
  const expected = {
    'token-mean': sum(tokens.flat()) / 48,
    'seq-mean-token-sum': sum(tokens.map(sum)) / 5,
    'seq-mean-token-mean': sum(tokens.map((row) => sum(row) / row.length)) / 5,
    'seq-mean-token-sum-norm': sum(tokens.flat()) / 20,
  }
  it.each(AGG_MODES)('%s', (mode) => {
    expect(run({ policy_loss_fn: 'sft', loss_agg_mode: mode }).loss).toBeCloseTo(expected[mode], 6)
  })

  it('own arguments come first, then the algorithm, then what the function prefers', () => {
    const gspo = (config: object) => run({ policy_loss_fn: 'gspo', ...config }).loss
    const preferred = gspo({})
    expect(gspo({ loss_agg_mode: 'seq-mean-token-mean' })).toBe(preferred)
    expect(gspo({ loss_agg_mode: 'token-mean' })).not.toBeCloseTo(preferred, 4)
    const own = { policy_loss_fn_args: { loss_agg_mode: 'seq-mean-token-mean' }, loss_agg_mode: 'token-mean' }
    expect(gspo(own)).toBe(preferred)
  })

  it('reaches the policy loss also when other arguments are given', () => {
    const config = { policy_loss_fn: 'ppo', loss_agg_mode: 'seq-mean-token-sum' } as const
    expect(run({ ...config, policy_loss_fn_args: { clip_range: 0.2 } }).loss).toBe(run(config).loss)
  })

  it('REC honors it, and prefers the mean per sequence with gspo-one-side', () => {
    const rec = (args: object, loss_agg_mode?: LossConfig['loss_agg_mode']) =>
      run({ policy_loss_fn: 'rec', policy_loss_fn_args: { ...args }, loss_agg_mode }).loss
    const side = { clip_mode: 'gspo-one-side' }
    expect(rec(side)).toBe(rec({ ...side, loss_agg_mode: 'seq-mean-token-mean' }))
    expect(rec({ ...side, loss_agg_mode: 'token-mean' })).not.toBeCloseTo(rec(side), 5)
    for (const mode of AGG_MODES) expect(rec(side, mode)).toBe(rec({ ...side, loss_agg_mode: mode }))
    expect(rec({})).toBe(rec({}, 'token-mean'))
  })
})

describe('total loss', () => {
  const base = { policy_loss_fn: 'ppo' } as const

  it('is policy − entropy_coef·H + kl_coef·KL', () => {
    const policy = run(base).loss
    const got = run({
      ...base,
      entropy_loss_fn: 'default',
      entropy_loss_fn_args: { entropy_coef: 0.3 },
      kl_loss_fn: 'k2',
      kl_loss_fn_args: { kl_coef: 0.7 },
    })
    const { entropy_loss, kl_loss, kl_coef, final_loss, pg_loss } = got.metrics
    expect(pg_loss.value).toBeCloseTo(policy, 12)
    expect(got.loss).toBeCloseTo(policy - 0.3 * entropy_loss.value + 0.7 * kl_loss.value, 12)
    expect([final_loss.value, kl_coef.value]).toEqual([got.loss, 0.7])
  })

  it('reports the entropy without a gradient when its coefficient is 0', () => {
    const got = run({ ...base, entropy_loss_fn: 'default' })
    expect(got.metrics.entropy_loss.value).toBeGreaterThan(0)
    expect(got.grads.entropy).toBeUndefined()
  })

  it('takes the KL coefficient of the moment without a new graph', () => {
    let coef = 0.1
    const loss = buildLoss({ policy_loss_fn: 'sft', kl_loss_fn: 'k1' }, { klCoef: () => coef })
    const { rows, scores } = publishedBatch()
    const at = () => evaluateLoss(loss, rows, loss.norms(rows), scores)
    const [low, kl] = [at().loss, at().metrics.kl_loss.value]
    coef = 0.2
    expect(at().loss - low).toBeCloseTo(0.1 * kl, 10)
  })

  it('lists the columns it reads, those of its normalizers included', () => {
    const names = (config: LossConfig) =>
      buildLoss(config)
        .columns.map((column) => column.name)
        .sort()
    expect(names(base)).toEqual(['advantage', 'old'])
    expect(names({ policy_loss_fn: 'mix_chord', kl_loss_fn: 'k2' })).toEqual([
      'advantage',
      'expert',
      'old',
      'ref',
      'step',
    ])
    expect(names({ policy_loss_fn: 'dpo' })).toEqual(['chosen', 'ref'])
    expect(names({ ...base, policy_loss_fn_args: { fallback_to_policy_gradient: true } })).toEqual(['advantage'])
  })
})

describe('KL functions', () => {
  const x = { logprob: -1, ref: -1.5, old: -0.8 }
  const k3 = Math.exp(-0.5) - 1 + 0.5
  const cases: [string, number][] = [
    ['k1', 0.5],
    ['k2', 0.125],
    ['k3', k3],
    ['low_var_kl', k3],
    ['abs', 0.5],
    ['corrected_k3', Math.exp(-0.2) * k3],
  ]
  const at = (name: string, point: typeof x) => {
    const row: LossRow = { mask: Uint8Array.of(1), columns: { ref: point.ref, old: point.old } }
    const batch = {
      rows: [row],
      scores: { logprob: Float32Array.of(point.logprob), entropy: new Float32Array(1), value: new Float32Array(1) },
    }
    return run({ policy_loss_fn: 'sft', kl_loss_fn: name }, batch).metrics.kl_loss?.value
  }
  it.each(cases)('%s', (name, value) => expect(at(name, x)).toBeCloseTo(value, 6))
  it('low_var_kl is bounded', () => expect(at('low_var_kl', { logprob: -9, ref: -1, old: 0 })).toBe(10))
  it('corrected_k3 bounds its weight', () => {
    expect(at('corrected_k3', { logprob: -1, ref: -1.5, old: -5 })).toBeCloseTo(2 * k3, 6)
  })
  it('none adds nothing', () => expect(at('none', x)).toBeUndefined())
})

describe('dpo', () => {
  it('has one margin per pair', () => {
    const logSigmoid = (z: number) => -Math.log1p(Math.exp(-z))
    const pair = (bundle: string, chosen: number, ref: number[]): LossRow => ({
      mask: Uint8Array.of(1, 1, 0),
      bundle,
      columns: { chosen, ref: Float32Array.of(ref[0], ref[1], Number.NaN) },
    })
    // Row order does not matter: the second pair lists its rejected answer first, and the pairs are interleaved.
    const rows = [pair('a', 1, [-1, -1]), pair('b', 0, [-2, -2]), pair('b', 1, [-1, -2]), pair('a', 0, [-1, -3])]
    const logprob = Float32Array.of(-0.5, -1, Number.NaN, -1, -2, Number.NaN, -1, -1, Number.NaN, -2, -3, Number.NaN)
    const empty = new Float32Array(12)
    const got = run(
      { policy_loss_fn: 'dpo', policy_loss_fn_args: { beta: 0.5 } },
      { rows, scores: { logprob, entropy: empty, value: empty } },
    )
    const [za, zb] = [0.5 * (0.5 - -1), 0.5 * (1 - 1)]
    expect(got.loss).toBeCloseTo(-(logSigmoid(za) + logSigmoid(zb)) / 2, 6)
    expect(got.metrics.chosen_reward.value).toBeCloseTo((0.5 * (0.5 + 1)) / 2, 6)
    expect(got.metrics.rejected_reward.value).toBeCloseTo((0.5 * (-1 + 1)) / 2, 6)
    expect(got.metrics.accuracy_mean.value).toBe(0.5)
    expect(got.metrics.accuracy_mean.weight).toBe(2)
  })
})

describe('mix', () => {
  it('a part without rows is 0, in every mode', () => {
    for (const policy_loss_fn of ['mix', 'mix_chord']) {
      for (const loss_agg_mode of AGG_MODES) {
        for (const expert of [0, 1]) {
          const batch = randomBatch(5)
          const rows = batch.rows.map((row) => ({ ...row, columns: { ...row.columns, expert } }))
          const got = run({ policy_loss_fn, loss_agg_mode }, { ...batch, rows })
          expect(Number.isFinite(got.loss)).toBe(true)
          const silent =
            expert === 1 ? 'usual/pg_loss' : policy_loss_fn === 'mix' ? 'expert/sft_loss' : 'expert/sft_phi_loss'
          expect(got.metrics[silent].value).toBe(0)
        }
      }
    }
  })

  it('seq-mean-token-sum-norm: both parts divide by the width of the batch', () => {
    const row = (length: number, expert: number): LossRow => ({
      mask: new Uint8Array(length).fill(1),
      columns: { expert, advantage: 1, old: -1, step: 0 },
    })
    const rows = [row(5, 0), row(11, 1)]
    const scores = {
      logprob: new Float32Array(16).fill(-1),
      entropy: new Float32Array(16),
      value: new Float32Array(16),
    }
    for (const policy_loss_fn of ['mix', 'mix_chord']) {
      const off = policy_loss_fn === 'mix' ? {} : { enable_phi_function: false }
      const got = run(
        {
          policy_loss_fn,
          policy_loss_fn_args: off,
          loss_agg_mode: 'seq-mean-token-sum-norm',
          entropy_loss_fn: 'mix',
          entropy_loss_fn_args: { entropy_coef: 1 },
        },
        { rows, scores },
      )
      // slopes by logp of one token: −0.9·A·ρ/11 in usual rows, −0.1/11 in expert rows; entropy −1/11 in usual rows
      const of = (usual: number, expert: number) =>
        Array.from({ length: 16 }, (_, i) => expect.closeTo((i < 5 ? usual : expert) / 11, 6))
      expect([...got.grads.logprob!]).toEqual(of(-0.9, -0.1))
      expect([...got.grads.entropy!]).toEqual(of(-1, 0))
    }
  })

  it('chord: μ rises, falls along a cosine and stays', () => {
    const schedule = { mu_warmup_steps: 10, mu_decay_steps: 20, mu_peak: 0.9, mu_valley: 0.1 }
    const at = (step: number) => chordMu(step, schedule)
    expect([at(0), at(5), at(10), at(20), at(30), at(99)].map((x) => +x.toFixed(9))).toEqual([
      0, 0.45, 0.9, 0.5, 0.1, 0.1,
    ])
    const got = run({ policy_loss_fn: 'mix_chord', policy_loss_fn_args: schedule })
    expect(got.metrics.mu.value).toBeCloseTo(0.63, 9)
  })
})

describe('critique_grpo', () => {
  it('is PPO without a dual clip on own rows and shaped on off-policy rows', () => {
    const batch = randomBatch(9)
    const off = (value: number) => ({
      ...batch,
      rows: batch.rows.map((row) => ({ ...row, columns: { ...row.columns, off_policy: value } })),
    })
    const own = run({ policy_loss_fn: 'critique_grpo' }, off(0))
    const ppo = run({ policy_loss_fn: 'ppo', policy_loss_fn_args: { clip_ratio_c: 1e9 } }, off(0))
    expect(own.loss).toBeCloseTo(ppo.loss, 10)
    const shaped = run({ policy_loss_fn: 'critique_grpo' }, off(1))
    let [sum, n, at] = [0, 0, 0]
    for (const { mask, columns } of batch.rows) {
      for (let i = 0; i < mask.length; i++, at++) {
        if (!mask[i]) continue
        const p = Math.exp(batch.scores.logprob[at])
        sum -= ((columns.advantage as Float32Array)[i] * p) / (p + 0.1)
        n++
      }
    }
    expect(shaped.loss).toBeCloseTo(sum / n, 9)
    expect(shaped.metrics.off_policy_count.value).toBe(8)
    expect(shaped.metrics.on_policy_ratio.value).toBe(0)
  })
})

describe('critic', () => {
  it('clips the value around the old one', () => {
    const row: LossRow = {
      mask: Uint8Array.of(1, 1),
      columns: { old_value: Float32Array.of(0, 0), return: Float32Array.of(2, 1) },
    }
    const loss = buildCriticLoss({ cliprange_value: 0.5 })
    const got = evaluateLoss(loss, [row], loss.norms([row]), { value: Float32Array.of(1, 0.2) })
    // First: plain (1 − 2)² = 1, clipped (0.5 − 2)² = 2.25 decides, no gradient. Second: inside, (0.2 − 1)² = 0.64.
    expect(got.loss).toBeCloseTo((0.5 * (2.25 + 0.64)) / 2, 6)
    expect([...got.grads.value!]).toEqual([0, expect.closeTo(-0.4, 6)])
    expect(got.metrics).toMatchObject({ vf_clipfrac: { value: 0.5 }, vpred_mean: { value: expect.closeTo(0.6, 6) } })
    expect(loss.wants).toEqual(['value'])
  })

  it("seq-mean-token-sum-norm is veRL's: the mean over rows of the sum over tokens, by the width", () => {
    const row = (length: number): LossRow => ({
      mask: new Uint8Array(length).fill(1),
      columns: { old_value: new Float32Array(length), return: new Float32Array(length).fill(2) },
    })
    const rows = [row(2), row(5), row(3)]
    const loss = buildCriticLoss({ loss_agg_mode: 'seq-mean-token-sum-norm', cliprange_value: 9 })
    const got = evaluateLoss(loss, rows, loss.norms(rows), { value: new Float32Array(10) })
    expect(got.loss).toBeCloseTo((10 * 0.5 * 4) / 3 / 5, 9)
  })
})
