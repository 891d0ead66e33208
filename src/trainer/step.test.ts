import { describe, expect, it } from 'vitest'
import { firstUpdate, gradient, logprobs, norm, tokenMean, values } from '../../test/trainer/by-hand.js'
import { engine, model, stepConfig, VOCAB } from '../../test/trainer/kit.js'
import { close, LR, rollouts, sequence } from '../../test/trainer/rollouts.js'
import { nextCall } from '../engine/calls.js'
import type { MockTrainModel } from '../engine/mock/train.js'
import type { Experience } from '../experience/index.js'
import { TrainStep } from './step.js'

const clipLoss = (a: number, d: number, low = 0.2, high = 0.2) => {
  const ratio = Math.exp(d)
  const loss = Math.max(-a * ratio, -a * Math.min(1 + high, Math.max(1 - low, ratio)))
  return a < 0 ? Math.min(loss, -a * 3) : loss
}

describe('one step of GRPO', () => {
  const kl = { 'algorithm.kl_loss_fn_args': { kl_coef: 0.4 } }
  const byHand = (batch: Experience[], reference: Float64Array, old: (e: Experience) => ArrayLike<number>) => {
    const ref = batch.map((e) => logprobs(reference, VOCAB, sequence(e)))
    return (weights: Float64Array) =>
      tokenMean(
        batch.map((e, r) => ({
          mask: e.actionMask,
          losses: logprobs(weights, VOCAB, sequence(e)).map(
            (logp, i) => clipLoss(e.advantages![i], logp - old(e)[i]) + 0.4 * 0.5 * (logp - ref[r][i]) ** 2,
          ),
        })),
      )
  }

  it('equals the formula with the recorded log-probs, at each row’s temperature', async () => {
    const [policy, reference] = [await model(1), await model(2)]
    const before = policy.bigram.weights.slice()
    const batch = rollouts(policy)
    const loss = byHand(batch, reference.bigram.weights, (e) => e.logprobs!)
    const grad = gradient(loss, before)
    const step = new TrainStep({ policy, reference }, { config: stepConfig('grpo', kl) })
    const { metrics, trained } = await step.run(batch, 1)
    close(policy.bigram.weights, firstUpdate(before, grad, LR, 1))
    expect(trained).toBe(4)
    expect(metrics['actor/loss']).toBeCloseTo(loss(before), 5)
    expect(metrics['actor/grad_norm']).toBeCloseTo(norm(grad), 5)
    expect(metrics).toMatchObject({ 'actor/lr': LR, 'actor/kl_coef': 0.4, 'actor/updates': 1, 'sample/task_count': 2 })
  })

  it('recomputes old log-probs when asked: the ratio is 1, and the mismatch with the sampler is reported', async () => {
    const [policy, reference] = [await model(1), await model(2)]
    const before = policy.bigram.weights.slice()
    const batch = rollouts(policy)
    const now = new Map(batch.map((e) => [e, logprobs(before, VOCAB, sequence(e))]))
    const loss = byHand(batch, reference.bigram.weights, (e) => now.get(e)!)
    const config = stepConfig('grpo', { ...kl, 'algorithm.bypass_old_logprobs': false })
    const { metrics } = await new TrainStep({ policy, reference }, { config }).run(batch, 1)
    close(policy.bigram.weights, firstUpdate(before, gradient(loss, before), LR, 1))
    expect(metrics['actor/ppo_kl']).toBeCloseTo(0, 6)
    expect(metrics['time/old_log_prob']).toBeGreaterThan(0)
    const differences = batch.flatMap((e) =>
      [...e.logprobs!].flatMap((x, i) => (e.actionMask[i] ? [x - now.get(e)![i]] : [])),
    )
    const sizes = differences.map(Math.abs)
    expect(metrics['mismatch/kl']).toBeCloseTo(differences.reduce((a, b) => a + b) / differences.length, 5)
    expect(metrics['mismatch/logprob_diff/mean']).toBeCloseTo(sizes.reduce((a, b) => a + b) / sizes.length, 5)
    expect(metrics['mismatch/logprob_diff/max']).toBeCloseTo(Math.max(...sizes), 5)
  })

  it('reports the same mismatch without recomputing, from its own forward pass', async () => {
    const run = async (bypass: boolean) => {
      const policy = await model(1)
      const config = stepConfig('dapo', { 'algorithm.bypass_old_logprobs': bypass })
      return (await new TrainStep({ policy }, { config }).run(rollouts(policy), 1)).metrics
    }
    const [own, again] = [await run(true), await run(false)]
    for (const name of ['kl', 'logprob_diff/mean', 'logprob_diff/max', 'logprob_diff/p99']) {
      expect(own[`mismatch/${name}`]).toBeCloseTo(again[`mismatch/${name}`], 9)
    }
  })

  it('does not depend on the size of micro-batches', async () => {
    const trained = await Promise.all(
      [
        { 'trainer.max_token_len_per_gpu': 1 },
        { 'trainer.max_token_len_per_gpu': 11 },
        { 'trainer.use_dynamic_bsz': false },
        {},
      ].map(async (set) => {
        const [policy, reference] = [await model(1), await model(2)]
        const step = new TrainStep({ policy, reference }, { config: stepConfig('grpo', { ...kl, ...set }) })
        await step.run(rollouts(policy), 1)
        return policy.bigram.weights
      }),
    )
    for (const weights of trained.slice(1)) close(weights, trained[0], 9)
  })

  it('every epoch is one update of the whole step, whatever ppo_mini_batch_size says', async () => {
    const actor = 'trainer.trainer_config.actor_rollout_ref.actor'
    const set = { [`${actor}.ppo_mini_batch_size`]: 2, [`${actor}.ppo_epochs`]: 3 }
    const policy = await model(1)
    const batch = rollouts(policy)
    const { metrics } = await new TrainStep({ policy }, { config: stepConfig('dapo', set) }).run(batch, 1)
    expect(metrics['actor/updates']).toBe(3)
    const other = await model(1)
    const one = new TrainStep({ policy: other }, { config: stepConfig('dapo') })
    for (let epoch = 0; epoch < 3; epoch++) await one.run(batch, 1)
    close(policy.bigram.weights, other.bigram.weights, 12)
  })

  it('computes reference log-probs only where something reads them', async () => {
    const policy = await model(1)
    const { metrics } = await new TrainStep(
      { policy },
      { config: stepConfig('grpo', { 'algorithm.kl_loss_fn': 'none' }) },
    ).run(rollouts(policy), 1)
    expect(metrics).not.toHaveProperty('time/ref')
    expect(() => new TrainStep({ policy }, { config: stepConfig('grpo') })).toThrowError(
      expect.objectContaining({ code: 'trainer/missing-model' }),
    )
  })

  it('an adaptive coefficient of the KL loss follows the KL', async () => {
    const [policy, reference] = [await model(1), await model(2)]
    const args = { adaptive: true, kl_coef: 0.4, target_kl: 1e-4, horizon: 40 }
    const step = new TrainStep(
      { policy, reference },
      { config: stepConfig('grpo', { 'algorithm.kl_loss_fn_args': args }) },
    )
    await step.run(rollouts(policy), 1)
    // far above the target: the error is clipped to 0.2, four sequences of a horizon of 40
    expect(step.controllers.kl_loss.coef).toBeCloseTo(0.4 * (1 + (0.2 * 4) / 40), 12)
    expect((await step.run(rollouts(policy), 2)).metrics['actor/kl_coef']).toBeCloseTo(0.408, 12)
  })
})

describe('one step of PPO', () => {
  const critic = 'trainer.trainer_config.critic'
  const set = {
    'algorithm.kl_loss_fn': 'none',
    'algorithm.kl_penalty_fn': 'k1',
    'algorithm.kl_penalty_fn_args': { kl_coef: 0.3 },
    'algorithm.advantage_fn_args': { gamma: 0.9, lam: 0.8 },
    [`${critic}.optim.lr`]: 0.05,
    [`${critic}.optim.weight_decay`]: 0,
    [`${critic}.optim.override_optimizer_config.eps`]: 1,
    [`${critic}.cliprange_value`]: 0.4,
  }
  const batchOf = (policy: MockTrainModel) =>
    rollouts(policy, 0.1).map(
      ({ advantages, ...rest }) => ({ ...rest, actionMask: rest.actionMask.fill(1) }) as Experience,
    )

  /** GAE with the penalty in the reward, then whitening. */
  function byHand(batch: Experience[], valueWeights: Float64Array, reference: Float64Array) {
    const rows = batch.map((e) => {
      const ref = logprobs(reference, VOCAB, sequence(e))
      const rewards = ref.map((r, i) => -0.3 * (e.logprobs![i] - r))
      rewards[rewards.length - 1] += e.reward!
      const v = values(valueWeights, VOCAB, sequence(e))
      const advantages = rewards.map(() => 0)
      let next = 0
      for (let t = rewards.length - 1; t >= 0; t--) {
        next = rewards[t] + 0.9 * (v[t + 1] ?? 0) - v[t] + 0.9 * 0.8 * next
        advantages[t] = next
      }
      return { v, advantages, returns: advantages.map((a, i) => a + v[i]) }
    })
    const all = rows.flatMap((row) => row.advantages)
    const mean = all.reduce((a, b) => a + b) / all.length
    const deviation = Math.sqrt(all.reduce((sum, a) => sum + (a - mean) ** 2, 0) / (all.length - 1) + 1e-8)
    return rows.map((row) => ({ ...row, advantages: row.advantages.map((a) => (a - mean) / deviation) }))
  }

  it('policy and critic equal the formulas', async () => {
    const [policy, reference, values_] = [await model(1), await model(2), await model(3)]
    const [w, v] = [policy.bigram.weights.slice(), values_.bigram.weights.slice()]
    const batch = batchOf(policy)
    const rows = byHand(batch, v, reference.bigram.weights)
    const policyLoss = (weights: Float64Array) =>
      tokenMean(
        batch.map((e, r) => ({
          mask: e.actionMask,
          losses: logprobs(weights, VOCAB, sequence(e)).map((logp, i) =>
            clipLoss(rows[r].advantages[i], logp - e.logprobs![i]),
          ),
        })),
      )
    const valueLoss = (weights: Float64Array) =>
      tokenMean(
        batch.map((e, r) => ({
          mask: e.actionMask,
          losses: values(weights, VOCAB, sequence(e)).map((value, i) => {
            const { v: old, returns } = rows[r]
            const near = Math.min(old[i] + 0.4, Math.max(old[i] - 0.4, value))
            return 0.5 * Math.max((value - returns[i]) ** 2, (near - returns[i]) ** 2)
          }),
        })),
      )
    const step = new TrainStep({ policy, reference, critic: values_ }, { config: stepConfig('ppo', set) })
    const { metrics } = await step.run(batch, 1)
    close(policy.bigram.weights, firstUpdate(w, gradient(policyLoss, w), LR, 1))
    close(values_.bigram.weights, firstUpdate(v, gradient(valueLoss, v), 0.05, 1))
    expect(metrics['critic/vf_loss']).toBeCloseTo(valueLoss(v), 5)
    expect(metrics['critic/lr']).toBe(0.05)
    expect(metrics['advantage/kl_coef']).toBe(0.3)
    expect(metrics['critic/advantages/mean']).toBeCloseTo(0, 5)
  })

  it('the policy rests while only the critic warms up', async () => {
    const [policy, reference, values_] = [await model(1), await model(2), await model(3)]
    const config = stepConfig('ppo', { ...set, 'trainer.critic_warmup': 2 })
    const step = new TrainStep({ policy, reference, critic: values_ }, { config })
    const [w, v] = [policy.bigram.weights.slice(), values_.bigram.weights.slice()]
    const { metrics } = await step.run(batchOf(policy), 1)
    expect(policy.bigram.weights).toEqual(w)
    expect(values_.bigram.weights).not.toEqual(v)
    expect(metrics).not.toHaveProperty('actor/loss')
    await step.run(batchOf(policy), 2)
    expect(policy.bigram.weights).not.toEqual(w)
  })

  it('a warm-up without a critic changes nothing', async () => {
    const policy = await model(1)
    const w = policy.bigram.weights.slice()
    await new TrainStep({ policy }, { config: stepConfig('dapo', { 'trainer.critic_warmup': 5 }) }).run(
      rollouts(policy),
      1,
    )
    expect(policy.bigram.weights).not.toEqual(w)
  })

  it('an adaptive penalty follows the KL', async () => {
    const [policy, reference, values_] = [await model(1), await model(1), await model(3)]
    const args = { adaptive: true, kl_coef: 0.3, target_kl: 5, horizon: 100 }
    const config = stepConfig('ppo', {
      ...set,
      'algorithm.kl_penalty_fn_args': args,
      'algorithm.bypass_old_logprobs': false,
    })
    const step = new TrainStep({ policy, reference, critic: values_ }, { config })
    const { metrics } = await step.run(batchOf(policy), 1)
    // equal models: KL 0, far below the target
    expect(metrics['advantage/kl']).toBeCloseTo(0, 6)
    expect(step.controllers.kl_penalty.coef).toBeCloseTo(0.3 * (1 - (0.2 * 4) / 100), 9)
  })
})

it('an aborted step stops with the reason', async () => {
  const policy = await model(1, engine())
  const step = new TrainStep({ policy }, { config: stepConfig('dapo') })
  await expect(step.run(rollouts(policy), 1, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  await policy.discardGrad(nextCall())
})
