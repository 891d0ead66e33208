import { describe, expect, it } from 'vitest'
import { model, stepConfig } from '../../test/trainer/kit.js'
import { rollouts } from '../../test/trainer/rollouts.js'
import type { MockTrainModel } from '../engine/mock/train.js'
import type { Experience } from '../experience/index.js'
import { TrainStep } from './step.js'

describe('advantages in the trainer', () => {
  it('clipb gets entropies, with recorded log-probs too', async () => {
    const policy = await model(1)
    const { metrics } = await new TrainStep(
      { policy },
      { config: stepConfig('dapo', { 'algorithm.advantage_fn': 'clipb' }) },
    ).run(rollouts(policy), 1)
    expect(metrics['advantage/ES']).toBeLessThan(1)
    expect(metrics).toHaveProperty('advantage/frac_clipped')
  })

  it('are made up for when a data set of raw experiences has none', async () => {
    const policy = await model(1)
    const raw = rollouts(policy).map(({ advantages, ...rest }) => rest as Experience)
    const { metrics } = await new TrainStep({ policy }, { config: stepConfig('dapo') }).run(raw, 1)
    expect(metrics['critic/advantages/max']).toBeGreaterThan(0.5)
  })

  it.each(['without advantages', 'with advantages of another algorithm'])(
    'selects for RAFT among stored experiences %s',
    async (how) => {
      const made = (policy: MockTrainModel) =>
        rollouts(policy).map(({ advantages, ...rest }) => (how.startsWith('without') ? rest : { ...rest, advantages }))
      const [policy, best] = [await model(1), await model(1)]
      const config = stepConfig('raft')
      const { metrics, trained } = await new TrainStep({ policy }, { config }).run(made(policy), 1)
      expect(trained).toBe(2)
      expect(metrics).toMatchObject({
        'sample/experience_count': 4,
        'sample/skipped/not_kept': 2,
        'advantage/kept_count': 2,
        'advantage/group_without_kept_count': 0,
        'critic/score/mean': 0.875,
      })
      // As if only the better answer of each group had been there.
      await new TrainStep({ policy: best }, { config }).run([made(best)[0], made(best)[3]], 1)
      expect(policy.bigram.weights).toEqual(best.bigram.weights)
    },
  )

  it('notes that a policy loss ignores the advantages', async () => {
    const notes = async (algorithm: string, set = {}) => {
      const found: string[] = []
      new TrainStep(
        { policy: await model(1) },
        { config: stepConfig(algorithm, set), note: (text) => found.push(text) },
      )
      return found
    }
    expect(await notes('dapo', { 'algorithm.policy_loss_fn': 'sft' })).toEqual([
      expect.stringContaining('advantage_fn: grpo has no effect: sft does not read advantages'),
    ])
    expect([await notes('raft'), await notes('dapo'), await notes('sft')]).toEqual([[], [], []])
  })

  it('a KL penalty does not make a reward of none', async () => {
    const rows = async (more: Record<string, unknown>) => {
      const [policy, reference] = [await model(1), await model(1)]
      const config = stepConfig('rloo', { 'algorithm.kl_loss_fn': 'none', ...more })
      const [first, ...others] = rollouts(policy)
      const { reward, ...open } = first
      return new TrainStep({ policy, reference }, { config }).run([open as Experience, ...others], 1)
    }
    const [plain, penalized] = [await rows({}), await rows({ 'algorithm.kl_penalty_fn': 'k1' })]
    expect(plain).toMatchObject({ trained: 3, metrics: { 'advantage/missing_reward_count': 1 } })
    expect(penalized).toMatchObject({ trained: 3, metrics: { 'advantage/missing_reward_count': 1 } })
  })

  it('rollout correction weights by the mismatch', async () => {
    const policy = await model(1)
    const at = async (rollout_is_threshold: number) => {
      const args = { bypass_mode: false, rollout_is: 'token', rollout_is_threshold }
      const config = stepConfig('dapo', { 'algorithm.rollout_correction': args })
      return (await new TrainStep({ policy: await model(1) }, { config }).run(rollouts(policy), 1)).metrics
    }
    const [metrics, free] = [await at(1.1), await at(100)]
    // Of the ratios before the cap, which changes the loss.
    expect(metrics['rollout_corr/rollout_is_max']).toBeGreaterThan(1.1)
    expect(metrics['rollout_corr/rollout_is_max']).toBe(free['rollout_corr/rollout_is_max'])
    expect(metrics['actor/pg_loss']).not.toBeCloseTo(free['actor/pg_loss'], 6)
    expect(metrics['rollout_corr/kl']).toBeCloseTo(metrics['mismatch/kl'], 5)
  })
})
