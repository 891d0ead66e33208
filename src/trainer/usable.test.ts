import { describe, expect, it } from 'vitest'
import { model, rollout, stepConfig } from '../../test/trainer/kit.js'
import { close, rollouts } from '../../test/trainer/rollouts.js'
import type { Experience } from '../experience/index.js'
import { TrainStep } from './step.js'

describe('what cannot be trained on', () => {
  it('is left out and counted; a batch of nothing else says so', async () => {
    const policy = await model(1)
    const notes: string[] = []
    const step = new TrainStep({ policy }, { config: stepConfig('dapo'), note: (text) => notes.push(text) })
    const good = rollouts(policy)
    const failed = rollout({ tokens: [1], promptLength: 1, failure: { reason: 'timeout', message: 'late' } })
    const empty = { ...good[0], eid: { ...good[0].eid, suffix: 'eeeeee' }, actionMask: new Uint8Array(3) }
    const long = rollout({ tokens: Array(80).fill(1), advantages: Array(78).fill(1), logprobs: Array(78).fill(-1) })
    const before = policy.bigram.weights.slice()
    const none = await step.run([failed, empty, long], 1)
    expect(none.trained).toBe(0)
    expect(policy.bigram.weights).toEqual(before)
    expect(notes).toEqual([
      expect.stringContaining('1 of 3 sequences are left out: the longest has 80 tokens, the model takes 64'),
      expect.stringContaining('nothing to train on in 3 experiences (1 failed, 1 too long, 1 empty mask)'),
    ])
    const some = await step.run([...good, failed, empty, long], 2)
    expect(some).toMatchObject({
      trained: 4,
      metrics: { 'sample/skipped/failed': 1, 'sample/skipped/too_long': 1, 'sample/skipped/empty_mask': 1 },
    })
    expect(notes).toHaveLength(2)
    const alone = await model(1)
    await new TrainStep({ policy: alone }, { config: stepConfig('dapo') }).run(good, 2)
    close(policy.bigram.weights, alone.bigram.weights, 12)
  })

  describe('without an active token', () => {
    it('is counted by its reason', async () => {
      const policy = await model(1)
      const [one, ...others] = rollouts(policy)
      const masked = (suffix: string, more: Partial<Experience>) => ({
        ...one,
        eid: { ...one.eid, suffix },
        actionMask: new Uint8Array(3),
        ...more,
      })
      const rows = [
        masked('a', { info: { is_kept: false } }),
        masked('b', { truncateStatus: 'response_truncated' }),
        masked('c', { truncateStatus: 'response_truncated', info: { is_kept: false } }),
        masked('d', {}),
      ]
      const { metrics } = await new TrainStep({ policy }, { config: stepConfig('dapo') }).run([...others, ...rows], 1)
      expect(metrics).toMatchObject({
        'sample/skipped/not_kept': 2,
        'sample/skipped/truncated': 1,
        'sample/skipped/empty_mask': 1,
        'sample/truncated_count': 2,
      })
    })

    it.each(['token-mean', 'seq-mean-token-sum', 'seq-mean-token-mean', 'seq-mean-token-sum-norm'])(
      'an adaptive KL coefficient does not hear of it: %s',
      async (mode) => {
        const coefAfter = async (masked: number) => {
          const [policy, reference] = [await model(1), await model(3)]
          const good = rollouts(policy)
          const config = stepConfig('ppo', {
            'algorithm.kl_loss_fn': 'k2',
            'algorithm.loss_agg_mode': mode,
            'algorithm.kl_loss_fn_args': { adaptive: true, kl_coef: 0.001, target_kl: 0.3, horizon: 10 },
          })
          const step = new TrainStep({ policy, critic: await model(2), reference }, { config })
          const tokens = Array(20).fill(1)
          const more = Array.from({ length: masked }, (_, i) => ({
            ...rollout({
              tokens,
              promptLength: 2,
              reward: 1,
              advantages: Array(18).fill(1),
              logprobs: Array(18).fill(-1),
            }),
            ...{ eid: { ...good[0].eid, suffix: `e${i}` }, actionMask: new Uint8Array(18) },
          }))
          const { metrics } = await step.run([...good, ...more], 1)
          expect(metrics['sample/skipped/empty_mask']).toBe(masked || undefined)
          return step.controllers.kl_loss?.coef
        }
        const coef = await coefAfter(0)
        expect(coef).not.toBe(0.001)
        expect(await coefAfter(4)).toBeCloseTo(coef!, 12)
      },
    )

    const lossOf = async (mode: string, more: (good: Experience[]) => Experience[]) => {
      const [policy, critic] = [await model(1), await model(2)]
      const good = rollouts(policy)
      const config = stepConfig('ppo', {
        'algorithm.kl_loss_fn': 'k1',
        'algorithm.loss_agg_mode': mode,
        'trainer.trainer_config.critic.loss_agg_mode': mode,
      })
      const models = { policy, critic, reference: await model(3) }
      const { metrics } = await new TrainStep(models, { config }).run([...good, ...more(good)], 1)
      return ['actor/pg_loss', 'actor/kl_loss', 'actor/entropy_loss', 'critic/vf_loss'].map((name) => metrics[name])
    }
    const none = () => []
    /** Masked as a truncated answer is: it has all that the others have. */
    const masked = ([one]: Experience[]) => [
      { ...one, eid: { ...one.eid, suffix: 'eeeeee' }, actionMask: new Uint8Array(one.actionMask.length) },
    ]

    it.each([
      ['token-mean', 1],
      ['seq-mean-token-sum', 4 / 5],
      ['seq-mean-token-mean', 4 / 5],
    ])('counts as a row: %s', async (mode, share) => {
      const [some, alone] = [await lossOf(mode, masked), await lossOf(mode, none)]
      if (share === 1) expect(some).toEqual(alone)
      else expect(some).toEqual(alone.map((loss) => expect.closeTo(loss * share, 9)))
    })

    it('gives the width if it is the longest', async () => {
      const config = stepConfig('dapo', { 'algorithm.loss_agg_mode': 'seq-mean-token-sum-norm' })
      const lossOf = async (length?: number) => {
        const policy = await model(1)
        const more =
          length === undefined
            ? []
            : [rollout({ tokens: Array(length + 2).fill(1), actionMask: Array(length).fill(0) })]
        const { metrics } = await new TrainStep({ policy }, { config }).run([...rollouts(policy), ...more], 1)
        return metrics['actor/pg_loss']
      }
      // the longest of the others has four tokens
      expect(await lossOf(3)).toBe(await lossOf())
      expect(await lossOf(16)).toBeCloseTo((await lossOf()) / 4, 9)
    })

    it('belongs to its part of the batch, and needs nothing that only a pass would read', async () => {
      const config = stepConfig('dapo', {
        'algorithm.policy_loss_fn': 'mix',
        'algorithm.loss_agg_mode': 'seq-mean-token-sum',
      })
      const partsOf = async (empty: number) => {
        const policy = await model(1)
        const [first, ...others] = rollouts(policy)
        const info = { is_expert: true }
        const blank = Array.from({ length: empty }, (_, run) =>
          rollout({ tokens: [1, 2, 3], actionMask: [0], info, eid: { task: 7, run } }),
        )
        const { metrics } = await new TrainStep({ policy }, { config }).run(
          [{ ...first, info }, ...others, ...blank],
          1,
        )
        return [metrics['actor/usual/pg_loss'], metrics['actor/expert/sft_loss']]
      }
      const [usual, expert] = await partsOf(0)
      expect(await partsOf(3)).toEqual([usual, expect.closeTo(expert / 4, 9)])
    })
  })

  it('a gradient that is not finite is reported and not applied', async () => {
    const policy = await model(1)
    const notes: string[] = []
    const batch = rollouts(policy)
    batch[0].advantages![0] = Number.POSITIVE_INFINITY
    const before = policy.bigram.weights.slice()
    const step = new TrainStep({ policy }, { config: stepConfig('dapo'), note: (text) => notes.push(text) })
    const { metrics } = await step.run(batch, 1)
    expect(policy.bigram.weights).toEqual(before)
    expect(metrics).toMatchObject({ 'actor/refused_updates': 1, 'actor/updates': 0 })
    expect(notes[0]).toContain('not finite')
    await step.run(rollouts(policy), 2)
    expect(policy.bigram.weights).not.toEqual(before)
  })

  it('a loss that is not finite is refused, also where its gradient is finite', async () => {
    const policy = await model(1)
    const notes: string[] = []
    const batch = rollouts(policy)
    batch[0].logprobs![0] = Number.NaN
    const [weights, moments] = [policy.bigram.weights.slice(), JSON.stringify(policy.bigram)]
    const step = new TrainStep({ policy }, { config: stepConfig('dapo'), note: (text) => notes.push(text) })
    const { metrics } = await step.run(batch, 1)
    expect(metrics['actor/loss']).toBeNaN()
    expect(metrics).toMatchObject({ 'actor/refused_updates': 1, 'actor/updates': 0 })
    expect(policy.bigram.weights).toEqual(weights)
    expect(JSON.stringify(policy.bigram)).toBe(moments)
    expect(notes[0]).toContain('a loss or a gradient that is not finite')
  })

  it('the same experience twice in a batch counts twice', async () => {
    const [policy, other] = [await model(1), await model(1)]
    const [one] = rollouts(policy)
    const config = stepConfig('dapo', { 'algorithm.bypass_old_logprobs': false })
    await new TrainStep({ policy }, { config }).run([one, one], 1)
    await new TrainStep({ policy: other }, { config }).run([one, { ...one, eid: { ...one.eid, suffix: 'bbbbbb' } }], 1)
    expect(policy.bigram.weights).toEqual(other.bigram.weights)
  })
})
