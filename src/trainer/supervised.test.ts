import { describe, expect, it } from 'vitest'
import { firstUpdate, gradient, logprobs, tokenMean } from '../../test/trainer/by-hand.js'
import { model, rollout, stepConfig, VOCAB } from '../../test/trainer/kit.js'
import { close, LR, sequence } from '../../test/trainer/rollouts.js'
import { createExperience } from '../experience/index.js'
import { TrainStep } from './step.js'

describe('supervised steps', () => {
  it('SFT equals the mean of −log p', async () => {
    const policy = await model(4)
    const before = policy.bigram.weights.slice()
    const batch = [rollout({ tokens: [1, 2, 3, 4] }), rollout({ tokens: [0, 5, 5], promptLength: 1 })]
    const loss = (weights: Float64Array) =>
      tokenMean(
        batch.map((e) => ({ mask: e.actionMask, losses: logprobs(weights, VOCAB, sequence(e)).map((x) => -x) })),
      )
    const { metrics } = await new TrainStep({ policy }, { config: stepConfig('sft') }).run(batch, 1)
    close(policy.bigram.weights, firstUpdate(before, gradient(loss, before), LR, 1))
    expect(metrics['actor/sft_loss']).toBeCloseTo(loss(before), 5)
    expect(Object.keys(metrics).filter((name) => name.startsWith('mismatch'))).toEqual([])
  })

  it('DPO equals one margin per pair, however pairs are packed', async () => {
    const reference = await model(5)
    const answers = [
      { tokens: [1, 2], chosen: [3, 4, 0], rejected: [5, 0] },
      { tokens: [2, 3], chosen: [1], rejected: [4, 4, 4, 0] },
    ]
    const batch = answers.map((init, task) => createExperience({ ...init, eid: { task } }))
    const sum = (weights: Float64Array, prompt: number[], answer: number[]) => {
      const tokens = [...prompt, ...answer]
      const whole = { tokens, start: prompt.length, mask: answer.map(() => 1), temperature: 1 }
      return logprobs(weights, VOCAB, whole).reduce((a, b) => a + b, 0)
    }
    const loss = (weights: Float64Array) => {
      const losses = answers.map(({ tokens, chosen, rejected }) => {
        const gain = (answer: number[]) => sum(weights, tokens, answer) - sum(reference.bigram.weights, tokens, answer)
        return Math.log(1 + Math.exp(-0.5 * (gain(chosen) - gain(rejected))))
      })
      return losses.reduce((a, b) => a + b) / losses.length
    }
    for (const budget of [1, 100]) {
      const policy = await model(4)
      const before = policy.bigram.weights.slice()
      const config = stepConfig('dpo', {
        'algorithm.policy_loss_fn_args': { beta: 0.5 },
        'algorithm.kl_loss_fn_args': { kl_coef: 0 },
        'trainer.max_token_len_per_gpu': budget,
      })
      const { metrics } = await new TrainStep({ policy, reference }, { config }).run(batch, 1)
      close(policy.bigram.weights, firstUpdate(before, gradient(loss, before), LR, 1))
      expect(metrics['actor/dpo_loss']).toBeCloseTo(loss(before), 5)
      expect(metrics['actor/updates']).toBe(1)
    }
  })
})
