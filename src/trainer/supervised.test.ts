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

  it('learns labels up to the length of the model, and leaves out and counts longer ones', async () => {
    const policy = await model(4)
    const notes: string[] = []
    const config = stepConfig('sft', { 'model.max_response_tokens': 2 })
    const step = new TrainStep({ policy }, { config, note: (text) => notes.push(text) })
    const label = (length: number) => rollout({ tokens: Array(length).fill(1) })
    const { metrics, trained } = await step.run([label(8), label(64), label(65)], 1)
    expect(trained).toBe(2)
    expect(metrics).toMatchObject({ 'sample/skipped/too_long': 1, 'response_length/max': 62 })
    // Labels are not sampled: none of them was cut at the limit of sampled responses.
    expect(metrics).not.toHaveProperty('response_length/clip_ratio')
    await step.run([label(8), label(70)], 2)
    expect(notes).toEqual([
      'step 1: 1 of 3 sequences are left out: the longest has 65 tokens, the model takes 64 (model.max_model_len); ' +
        'sample/skipped/too_long counts them',
    ])
  })

  it('notes that plain text was cut', async () => {
    const policy = await model(4)
    const notes: string[] = []
    const step = new TrainStep({ policy }, { config: stepConfig('cpt'), note: (text) => notes.push(text) })
    const cut = { ...rollout({ tokens: [1, 2, 3] }), truncateStatus: 'response_truncated' as const }
    const { metrics, trained } = await step.run([cut], 1)
    expect([trained, metrics['sample/truncated_count']]).toEqual([1, 1])
    expect(notes).toEqual([expect.stringContaining('1 of 1 texts are cut: the model takes 64')])
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
