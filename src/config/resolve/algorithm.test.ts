import { describe, expect, it } from 'vitest'
import { BASE, catalog, errorsOf, resolve, resolveAll, settings, withKeys } from '../../../test/config-kit.js'

const algorithm = (set: Record<string, unknown>) => withKeys(set).algorithm
const type = (name: string, more: Record<string, unknown> = {}) =>
  algorithm({ 'algorithm.algorithm_type': name, ...more })

describe('components', () => {
  const online = catalog.algorithms.names().filter((name) => catalog.algorithms.find(name)?.schema === 'experience')
  it.each(online)('%s resolves with nothing else set', (name) => {
    const defaults: Readonly<Record<string, unknown>> = catalog.algorithms.find(name)?.defaults ?? {}
    const resolved = type(name)
    for (const slot of [
      'sample_strategy',
      'advantage_fn',
      'kl_penalty_fn',
      'policy_loss_fn',
      'kl_loss_fn',
      'entropy_loss_fn',
    ] as const) {
      expect(resolved[slot]).toBe(defaults[slot])
      expect(resolved[`${slot}_args`]).not.toBeNull()
    }
    expect(resolved.repeat_times).toBe(defaults.repeat_times ?? 1)
  })

  it("an algorithm's own repeat_times applies until the user sets one", () => {
    expect(type('dapo').repeat_times).toBe(16)
    expect(type('grpo').repeat_times).toBe(2)
    expect(type('grpo', { 'algorithm.repeat_times': 1 }).repeat_times).toBe(1)
  })

  it('partial arguments keep the defaults of the function', () => {
    expect(
      type('grpo', { 'algorithm.policy_loss_fn_args': { clip_range_high: 0.28 } }).policy_loss_fn_args,
    ).toMatchObject({
      clip_range: 0.2,
      clip_range_high: 0.28,
      clip_ratio_c: 3,
    })
    expect(
      type('rec', { 'algorithm.policy_loss_fn_args': { clip_mode: 'two-side' } }).policy_loss_fn_args,
    ).toMatchObject({
      epsilon_low_prime: 0.6,
      epsilon_high_prime: 2,
    })
    expect(
      type('grpo_verl', { 'algorithm.advantage_fn': 'clipv', 'algorithm.advantage_fn_args': { epsilon: 1e-5 } })
        .advantage_fn_args,
    ).toMatchObject({ mu: 8.5, epsilon: 1e-5 })
  })

  it("an algorithm's own arguments go to its own function only", () => {
    expect(type('gigpo').advantage_fn_args).toMatchObject({ omega: 1, fnorm: 'none' })
    expect(type('gigpo', { 'algorithm.advantage_fn': 'grpo' }).advantage_fn_args).not.toHaveProperty('omega')
  })

  it('brings the settings of the DAPO paper where a file does not say otherwise', () => {
    const dapo = type('dapo')
    expect(dapo).toMatchObject({
      loss_agg_mode: 'token-mean',
      kl_loss_fn: 'none',
      advantage_fn_args: { std_threshold: 0, mask_truncated: true },
      policy_loss_fn_args: { clip_range_low: 0.2, clip_range_high: 0.28, loss_agg_mode: 'token-mean' },
    })
    expect(type('grpo').advantage_fn_args).toMatchObject({ std_threshold: null, mask_truncated: false })
    const set = type('dapo', {
      'algorithm.advantage_fn_args': { std_threshold: null, mask_truncated: false },
      'algorithm.policy_loss_fn_args': { clip_range_high: 0.3 },
      'algorithm.loss_agg_mode': 'seq-mean-token-mean',
    })
    expect(set).toMatchObject({
      loss_agg_mode: 'seq-mean-token-mean',
      advantage_fn_args: { std_threshold: null, mask_truncated: false },
      policy_loss_fn_args: { clip_range_low: 0.2, clip_range_high: 0.3, loss_agg_mode: 'seq-mean-token-mean' },
    })
    // The aggregation belongs to the loss of the algorithm, not to another one in its slot.
    expect(type('dapo', { 'algorithm.policy_loss_fn': 'gspo' }).loss_agg_mode).toBe('seq-mean-token-mean')
  })

  it('warns that groups of one are left out', () => {
    const problems = (set: string) => resolveAll(`${BASE}algorithm: {${set}}`).remarks.map(({ key }) => key)
    expect(problems('algorithm_type: dapo, repeat_times: 1')).toContain('algorithm.repeat_times')
    expect(problems('algorithm_type: dapo')).not.toContain('algorithm.repeat_times')
    expect(problems('algorithm_type: grpo, repeat_times: 1')).not.toContain('algorithm.repeat_times')
  })

  it.each(['dapo', 'gigpo'])("%s: a clip_range of the file replaces both sides of the algorithm's own", (name) => {
    const clip = (args: Record<string, number>) =>
      type(name, { 'algorithm.policy_loss_fn_args': args }).policy_loss_fn_args
    expect(clip({ clip_range: 0.1 })).toMatchObject({ clip_range_low: 0.1, clip_range_high: 0.1 })
    expect(clip({ clip_range: 0.1, clip_range_high: 0.5 })).toMatchObject({ clip_range_low: 0.1, clip_range_high: 0.5 })
  })

  it('arguments are checked against the function', () => {
    const problems = errorsOf(() =>
      algorithm({
        'algorithm.algorithm_type': 'grpo',
        'algorithm.policy_loss_fn_args': { clip_rang: 0.2, clip_ratio_c: 'x' },
      }),
    )
    expect(problems).toMatchObject([
      { key: 'algorithm.policy_loss_fn_args.clip_ratio_c' },
      { key: 'algorithm.policy_loss_fn_args.clip_rang', message: 'unknown argument', hint: 'did you mean clip_range?' },
    ])
  })

  it('arguments from the environment arrive as texts and are read', () => {
    const config = resolve(`${BASE}algorithm: {algorithm_type: grpo, kl_loss_fn_args: {kl_coef: "\${oc.env:K}"}}`, {
      env: { K: '0.01' },
    })
    expect(config.algorithm.kl_loss_fn_args?.kl_coef).toBe(0.01)
  })

  it('unknown names are errors with the nearest one', () => {
    expect(errorsOf(() => type('grop'))).toMatchObject([
      { key: 'algorithm.algorithm_type', hint: expect.stringMatching(/^did you mean 'grpo'\?/) },
    ])
    expect(errorsOf(() => type('grpo', { 'algorithm.kl_loss_fn': 'k4' }))).toMatchObject([
      { key: 'algorithm.kl_loss_fn', message: "unknown KL function 'k4'" },
    ])
  })

  it('arguments that are known from elsewhere give a note', () => {
    const { remarks } = resolveAll(BASE, {
      set: settings({
        'algorithm.algorithm_type': 'mix',
        'algorithm.policy_loss_fn_args': { train_batch_size_usual: 4 },
      }),
    })
    expect(remarks).toMatchObject([{ severity: 'note', key: 'algorithm.policy_loss_fn_args.train_batch_size_usual' }])
  })
})

describe('loss_agg_mode', () => {
  const mode = (set: Record<string, unknown>) => {
    const resolved = algorithm(set)
    return [resolved.policy_loss_fn_args?.loss_agg_mode, resolved.loss_agg_mode]
  }
  it('token-mean unless said otherwise', () =>
    expect(mode({ 'algorithm.algorithm_type': 'grpo' })).toEqual(['token-mean', 'token-mean']))
  it('GSPO keeps its own', () => {
    expect(mode({ 'algorithm.algorithm_type': 'gspo' })).toEqual(['seq-mean-token-mean', 'seq-mean-token-mean'])
    expect(mode({ 'algorithm.algorithm_type': 'grpo', 'algorithm.policy_loss_fn': 'gspo' })[0]).toBe(
      'seq-mean-token-mean',
    )
  })
  it('REC has one with gspo-one-side', () => {
    const rec = (clip_mode: string, more = {}) =>
      mode({ 'algorithm.algorithm_type': 'rec', 'algorithm.policy_loss_fn_args': { clip_mode }, ...more })
    expect(rec('one-side')).toEqual(['token-mean', 'token-mean'])
    expect(rec('gspo-one-side')).toEqual(['seq-mean-token-mean', 'seq-mean-token-mean'])
    expect(rec('gspo-one-side', { 'algorithm.loss_agg_mode': 'token-mean' })[0]).toBe('token-mean')
  })
  it('the algorithm level reaches the loss, also beside other arguments', () => {
    const set = {
      'algorithm.algorithm_type': 'grpo',
      'algorithm.loss_agg_mode': 'seq-mean-token-sum',
      'algorithm.policy_loss_fn_args': { clip_range: 0.3 },
    }
    expect(mode(set)).toEqual(['seq-mean-token-sum', 'seq-mean-token-sum'])
    expect(mode({ 'algorithm.algorithm_type': 'gspo', 'algorithm.loss_agg_mode': 'token-mean' })[0]).toBe('token-mean')
  })
  it('the argument of the loss wins', () => {
    const set = {
      'algorithm.algorithm_type': 'grpo',
      'algorithm.loss_agg_mode': 'seq-mean-token-sum',
      'algorithm.policy_loss_fn_args': { loss_agg_mode: 'token-mean' },
    }
    expect(mode(set)).toEqual(['token-mean', 'seq-mean-token-sum'])
  })
  it('is not invented for a loss without one', () => {
    const file = `${BASE}mode: train\nalgorithm: {algorithm_type: dpo}`
    const config = resolve(file, {
      set: ['buffer.train_batch_size=4', 'buffer.trainer_input.experience_buffer.path=d.jsonl'],
    })
    expect(config.algorithm.policy_loss_fn_args).not.toHaveProperty('loss_agg_mode')
    expect(config.algorithm.repeat_times).toBe(2)
  })
})

describe('optimizer', () => {
  it('warmup_style is the old lr_scheduler_type and wins', () => {
    const { optimizer } = algorithm({
      'algorithm.optimizer.warmup_style': 'cosine',
      'algorithm.optimizer.lr_scheduler_type': 'linear',
    })
    expect(optimizer).toMatchObject({ lr_scheduler_type: 'cosine', warmup_style: null })
  })
  it('two betas', () => expect(errorsOf(() => algorithm({ 'algorithm.optimizer.betas': [0.9] }))).toHaveLength(1))
})

describe('data-set algorithms', () => {
  it.each(['sft', 'dpo', 'cpt'])('%s runs in mode train only', (name) => {
    expect(errorsOf(() => type(name))[0]).toMatchObject({ key: 'mode', hint: 'set mode: train' })
  })
})
