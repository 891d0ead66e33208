import { describe, expect, it } from 'vitest'
import { model, rollout, stepConfig } from '../../test/trainer/kit.js'
import { close, rollouts } from '../../test/trainer/rollouts.js'
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
      expect.stringContaining('nothing to train on in 3 experiences (1 failed, 1 too long, 1 empty mask)'),
    ])
    const some = await step.run([...good, failed, empty, long], 2)
    expect(some).toMatchObject({
      trained: 4,
      metrics: { 'sample/skipped/failed': 1, 'sample/skipped/too_long': 1, 'sample/skipped/empty_mask': 1 },
    })
    const alone = await model(1)
    await new TrainStep({ policy: alone }, { config: stepConfig('dapo') }).run(good, 2)
    close(policy.bigram.weights, alone.bigram.weights, 12)
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
