import { describe, expect, it } from 'vitest'
import { withKeys } from '../../../test/config-kit.js'
import { type ShapeName, shapeOf } from '../../../test/support/model-shapes.js'
import type { Config } from '../../config/index.js'
import { trainerNeeds } from '../../trainer/needs.js'
import { adviceFor } from './memory-advice.js'
import { total } from './memory-model.js'
import { memoryWords, planTorch, tooLargeOf, torchNeeds } from './memory-of-config.js'
import { type MemoryPlan, phasesOf } from './memory-plan.js'

const TORCH = {
  'explorer.rollout_model.engine_type': 'torch',
  'trainer.trainer_type': 'torch',
  'algorithm.algorithm_type': 'grpo',
  'algorithm.kl_loss_fn': 'none',
}
const TREE = 'trainer.trainer_config'

const read = async (path: string) => shapeOf(path as ShapeName)
const configOf = (keys: Record<string, unknown>, gpus: number) =>
  withKeys({ ...TORCH, 'model.model_path': '1.5b', ...keys }, { gpus, pytorch: true })
const planOf = (config: Config) => planTorch(config, trainerNeeds(config), read)
const plansOf = (keys: Record<string, unknown> = {}, gpus = 1) => planOf(configOf(keys, gpus))
const names = (items: readonly { what: string }[]) => items.map(({ what }) => what)

describe('what a configuration takes of the GPUs', () => {
  it('on one GPU: the policy, whose weights the sampler reads, by turns', async () => {
    const { trainer, sampler } = (await plansOf())!
    expect(sampler).toBeUndefined()
    expect(trainer).toMatchObject({ ranks: 1, turns: true, share: 0.9, samplers: [{ copies: 0, maxModelLen: 2048 }] })
    expect(trainer!.models).toMatchObject([
      { name: 'policy', longest: 2048, trains: { checkpointing: true, lora: undefined } },
    ])
    expect(names(trainer!.standing)).toEqual(['policy: weights', 'float32 weights', 'gradients', 'moments', 'CUDA'])
  })

  it('tokens of a micro-batch as the trainer takes them', async () => {
    const tokens = async (keys: Record<string, unknown>) => (await plansOf(keys))!.trainer!.models[0].tokens
    expect(await tokens({ 'trainer.max_token_len_per_gpu': 16_384 })).toBe(16_384)
    expect(await tokens({ 'trainer.max_token_len_per_gpu': 100 })).toBe(2048)
    const fixed = {
      'trainer.use_dynamic_bsz': false,
      [`${TREE}.actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu`]: 3,
    }
    expect(await tokens(fixed)).toBe(3 * 2048)
  })

  it('a copy of the weights where sampling does not wait for training, or an adapter is merged', async () => {
    const ahead = (await plansOf({ 'synchronizer.sync_offset': 1 }))!.trainer!
    expect(ahead).toMatchObject({ turns: false, samplers: [{ copies: 1 }] })
    expect(phasesOf(ahead).map(({ name }) => name)).toEqual(['training beside rollout', 'rollout'])
    const adapted = (await plansOf({ 'model.lora_configs': [{ lora_rank: 8 }] }))!.trainer!
    expect(adapted).toMatchObject({
      turns: true,
      samplers: [{ copies: 1 }],
      models: [{ trains: { lora: { rank: 8 } } }],
    })
    expect((await plansOf({ 'trainer.param_offload': true }))!.trainer!.samplers[0].copies).toBe(1)
  })

  it('critics and references', async () => {
    const keys = {
      'algorithm.algorithm_type': 'ppo',
      'algorithm.kl_loss_fn': 'k2',
      'model.critic_model_path': '0.5b',
      [`${TREE}.critic.model.enable_gradient_checkpointing`]: false,
      [`${TREE}.actor_rollout_ref.ref.fsdp_config.param_offload`]: true,
    }
    const { models, standing } = (await plansOf(keys))!.trainer!
    expect(models.map(({ name, trains }) => [name, trains?.checkpointing])).toEqual([
      ['policy', true],
      ['reference', undefined],
      ['critic', false],
    ])
    expect(models[2].config.hiddenSize).toBe(896)
    expect(names(standing).filter((what) => what.includes(':'))).toEqual(['policy: weights', 'critic: weights'])
  })

  it('GPUs of samplers have a plan of their own, those of the trainer share', async () => {
    const split = {
      mode: 'both',
      'cluster.node_num': 1,
      'cluster.gpu_per_node': 4,
      'explorer.rollout_model.engine_num': 2,
    }
    const { trainer, sampler } = (await plansOf(split, 4))!
    expect(trainer).toMatchObject({ ranks: 2, samplers: [], cache: undefined })
    expect(sampler).toMatchObject({ ranks: 1, models: [], turns: false, samplers: [{ copies: 2 }] })
    expect(names(sampler!.standing)).toEqual(['sampler: weights', 'new weights that arrive', 'CUDA'])
    expect(total(trainer!.standing)).toBeLessThan(total((await plansOf())!.trainer!.standing))
  })

  it('alone a trainer has no cache and an explorer nothing else', async () => {
    const train = (await plansOf({ mode: 'train', 'buffer.train_batch_size': 8 }))!.trainer!
    expect(phasesOf(train).map(({ name }) => name)).toEqual(['training'])
    const { trainer, sampler: explore } = (await plansOf({ mode: 'explore' })) as {
      trainer?: MemoryPlan
      sampler: MemoryPlan
    }
    expect(trainer).toBeUndefined()
    expect(phasesOf(explore).map(({ name }) => name)).toEqual(['rollout'])
    expect(explore.samplers[0].copies).toBe(1)
    expect(await planOf(withKeys({ 'model.model_path': '1.5b' }))).toBeUndefined()
  })

  const judged = {
    mode: 'explore',
    'cluster.node_num': 1,
    'cluster.gpu_per_node': 8,
    'explorer.rollout_model.tensor_parallel_size': 4,
    'explorer.auxiliary_models': [
      { model_path: '0.5b', name: 'judge', gpu_memory_utilization: 0.5, extra_engine_args: { max_num_seqs: 8 } },
    ],
  }

  it('auxiliary models have plans of their own', async () => {
    const { sampler, auxiliary } = (await plansOf(judged, 8))!
    expect(sampler!.samplers).toMatchObject([{ name: 'sampler', parts: 1 }])
    expect(auxiliary).toMatchObject([{ share: 0.5, samplers: [{ name: 'judge', maxBatch: 8 }] }])
    const one = auxiliary![0]!.cache!
    expect(one.most).toBe(8 * one.least)
  })

  it('a model that a GPU is too small for lies on all that an engine has, and only then', async () => {
    const large = { ...judged, 'model.model_path': '7b' }
    const config = configOf(large, 8)
    const chosen = (gib: number) =>
      tooLargeOf(config, trainerNeeds(config), read, async () => ({ name: 'a', bytes: gib * 2 ** 30 }))
    expect([...(await chosen(40))]).toEqual([])
    expect([...(await chosen(10))]).toEqual(['rollout'])
    expect([...(await tooLargeOf(config, trainerNeeds(config), read, async () => undefined))]).toEqual([])
    const { sampler } = (await planTorch(config, trainerNeeds(config), read, await chosen(10)))!
    const whole = (await plansOf(large, 8))!.sampler!
    expect(sampler!.samplers).toMatchObject([{ parts: 4 }])
    expect(sampler!.cache!.perToken).toBe(whole.cache!.perToken / 4)
    expect(total(sampler!.standing)).toBeLessThan(0.6 * total(whole.standing))
    const { lines } = await memoryWords(config, trainerNeeds(config), read, { name: 'a', bytes: 10 * 2 ** 30 })
    expect(lines[0][1]).toMatch(/^each of 4 GPUs of a sampler, about: /)
  })

  it('goes to the workers', async () => {
    const config = configOf({}, 1)
    let asked = 0
    const findCard = async () => {
      asked++
      return undefined
    }
    const context = { needs: trainerNeeds(config), readModel: read, note: () => {} }
    const { memory: needs } = await torchNeeds(config, context, findCard)
    // whoever has a GPU for each engine is not asked how large it is
    expect(asked).toBe(0)
    expect(needs?.trainer?.phases.map(({ name, share }) => [name, share])).toEqual([
      ['training', 1],
      ['rollout', 0.9],
    ])
    expect(needs?.sampler).toBeUndefined()
  })
})

describe('what to change when a phase does not fit', () => {
  const advice = async (keys: Record<string, unknown>, name: string) => {
    const plan = (await plansOf(keys))!.trainer!
    return adviceFor(plan)(phasesOf(plan).find((phase) => phase.name === name)!)
  }

  it('names the keys that help, the largest saving first', async () => {
    const off = {
      [`${TREE}.actor_rollout_ref.model.enable_gradient_checkpointing`]: false,
      'trainer.max_token_len_per_gpu': 8192,
    }
    const text = await advice(off, 'training')
    expect(text).toMatch(
      /^set one or more of: trainer.*enable_gradient_checkpointing: true \(saves 17\.4 GiB\); trainer\.optimizer_offload: true \(saves 17\.3 GiB\); trainer\.max_token_len_per_gpu: 4096 instead of 8192 \(saves 9\.\d GiB\)/,
    )
    expect(text).toMatch(/model\.lora_configs; a smaller model$/)
  })

  it('more GPUs for a sampler that has some for itself', async () => {
    const text = async (keys: Record<string, unknown>) => {
      const { sampler } = (await plansOf({ 'model.model_path': '7b', mode: 'explore', ...keys }, 8))!
      return adviceFor(sampler!)(phasesOf(sampler!)[0])
    }
    expect(await text({})).toMatch(/^set one or more of: explorer\.rollout_model\.tensor_parallel_size: 2 \(saves \d/)
    // by turns with a trainer there is one GPU
    expect(await advice({}, 'rollout')).not.toMatch(/tensor_parallel_size/)
  })

  it('and not those that are set already, or that change nothing', async () => {
    const keys = {
      'trainer.optimizer_offload': true,
      'trainer.max_token_len_per_gpu': 2048,
      'model.lora_configs': [{ lora_rank: 8 }],
    }
    const text = await advice(keys, 'training')
    expect(text).not.toMatch(/optimizer_offload|checkpointing|max_token_len_per_gpu|lora_configs/)
    expect(text).toMatch(/model\.max_model_len: 1024 instead of 2048/)
    expect(await advice({}, 'rollout')).toMatch(/gpu_memory_utilization \(now 0\.9\)/)
  })
})
