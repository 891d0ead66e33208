import { describe, expect, it } from 'vitest'
import { withKeys } from '../../../test/config-kit.js'
import { exactLogprobs } from './exact-logprobs.js'

const TORCH = {
  mode: 'colocate',
  'explorer.rollout_model.engine_type': 'torch',
  'trainer.trainer_type': 'torch',
  'trainer.exact_logprobs': true,
  'buffer.train_batch_size': 8,
}
const asked = (keys: Record<string, unknown> = {}, split = false) =>
  exactLogprobs(withKeys({ ...TORCH, ...keys }, { gpus: 1, pytorch: true }), split)

describe('equal log-probs', () => {
  it('are asked for by one key', () => {
    expect(asked()).toBe(true)
    expect(asked({ 'trainer.exact_logprobs': false }, true)).toBe(false)
  })
  it('are refused where the two sides would not compute the same', () => {
    const refused = (message: RegExp) =>
      expect.objectContaining({
        code: 'engine/exact-logprobs',
        path: 'trainer.exact_logprobs',
        message: expect.stringMatching(message),
        hint: expect.stringMatching(/, or leave trainer\.exact_logprobs out$/),
      })
    expect(() => asked({}, true)).toThrowError(refused(/several GPUs/))
    expect(() => asked({ mode: 'both', 'explorer.rollout_model.engine_type': 'native' })).toThrowError(
      refused(/rollouts by native/),
    )
    expect(asked({ mode: 'train', 'explorer.rollout_model.engine_type': 'native' })).toBe(true)
    expect(() => asked({ 'model.lora_configs': [{ name: 'a' }] })).toThrowError(refused(/LoRA/))
    const two = withKeys({ ...TORCH, mode: 'train' }, { gpus: 2, pytorch: true })
    expect(() => exactLogprobs(two, false)).toThrowError(refused(/on 2 GPUs/))
  })
})
