import { describe, expect, it } from 'vitest'
import { withKeys } from '../../../test/config-kit.js'
import { parseModelConfig } from '../../model/index.js'
import { trainerNeeds } from '../../trainer/needs.js'
import { duration, tooLarge as fits, type Machine, trainingDemand } from './fit.js'

/** The numbers of Qwen2.5 1.5B. */
const large = parseModelConfig(
  {
    architectures: ['Qwen2ForCausalLM'],
    model_type: 'qwen2',
    hidden_size: 1536,
    intermediate_size: 8960,
    num_hidden_layers: 28,
    num_attention_heads: 12,
    num_key_value_heads: 2,
    vocab_size: 151936,
    max_position_embeddings: 32768,
    rms_norm_eps: 1e-6,
    rope_theta: 1e6,
    tie_word_embeddings: true,
  },
  'config.json',
)
const tooLarge = (model: typeof large, config: ReturnType<typeof withKeys>, on: Machine) =>
  fits(model, config, trainerNeeds(config), on)
const machine = { memory: 16 * 2 ** 30, cores: 2 }

describe('what a model asks of the machine', () => {
  it('refuses one that does not fit, with the numbers', () => {
    const error = tooLarge(large, withKeys({ 'algorithm.algorithm_type': 'grpo' }), machine)
    expect(error).toMatchObject({ code: 'config/too-large', hint: expect.stringContaining('native') })
    expect(error?.message).toMatch(/1\.54e\+3 million|1540 million/)
    expect(error?.message).toContain('GiB of memory (this machine has 16')
  })

  it('refuses one that fits but would never get anywhere', () => {
    const config = withKeys({ 'algorithm.algorithm_type': 'grpo', 'buffer.train_batch_size': 256 })
    const error = tooLarge(large, config, { memory: 2 ** 50, cores: 2 })
    expect(error?.message).toMatch(/up to \d+ (hours|days) for one step of 256/)
    expect(error?.message).not.toContain('of memory')
  })

  it('takes a small one', () => {
    const small = { ...large, hiddenSize: 64, intermediateSize: 128, layers: 2, vocabSize: 512 }
    expect(tooLarge(small, withKeys({ 'algorithm.algorithm_type': 'grpo' }), machine)).toBeUndefined()
  })

  it('counts reference and critic, and an adapter for what it saves', () => {
    const of = (keys: Record<string, unknown>) => {
      const config = withKeys({ 'buffer.train_batch_size': 8, ...keys })
      return trainingDemand(large, config, trainerNeeds(config), machine)
    }
    const plain = of({ 'algorithm.algorithm_type': 'dapo' })
    const reference = of({ 'algorithm.algorithm_type': 'grpo' })
    const critic = of({ 'algorithm.algorithm_type': 'ppo' })
    const adapter = of({ 'algorithm.algorithm_type': 'grpo', 'model.lora_configs': [{ lora_rank: 8 }] })
    expect(reference.memory).toBeGreaterThan(plain.memory)
    expect(critic.memory).toBeGreaterThan(reference.memory)
    expect(adapter.memory).toBeLessThan(plain.memory)
    expect(critic.stepSeconds).toBeGreaterThan(plain.stepSeconds)
  })

  it('says how long in words', () => {
    expect([12.3, 600, 7200, 864_000].map(duration)).toEqual(['12 s', '10 minutes', '2 hours', '10 days'])
  })
})
