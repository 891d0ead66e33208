import { describe, expect, it } from 'vitest'
import { withKeys } from '../../../test/config-kit.js'
import { checkMachines, notesOfReplicas, torchOptions } from './from-config.js'

const TORCH = {
  'explorer.rollout_model.engine_type': 'torch',
  'trainer.trainer_type': 'torch',
  mode: 'train',
  'buffer.train_batch_size': 8,
}
const options = (keys: Record<string, unknown> = {}, gpus = 1) =>
  torchOptions(withKeys({ ...TORCH, ...keys }, { gpus, pytorch: true }))

describe('options of the torch engine', () => {
  it('are its own where a file says nothing', () => {
    expect(options({}, 0)).toMatchObject({ devices: 1, policy: { dtype: undefined, compile: undefined, ulysses: 1 } })
  })
  it('one worker for each GPU of the trainer', () => {
    expect(options({}, 4).devices).toBe(4)
    expect(options({ 'cluster.node_num': 1, 'cluster.gpu_per_node': 2 }, 4).devices).toBe(2)
    const nodes = { 'cluster.node_num': 2, 'cluster.gpu_per_node': 8 }
    expect(options(nodes).devices).toBe(16)
    const both = withKeys({ ...TORCH, ...nodes })
    const refused = (message: RegExp) =>
      expect.objectContaining({
        code: 'engine/machines',
        path: 'cluster.node_num',
        message: expect.stringMatching(message),
      })
    expect(() => checkMachines(both, false)).toThrowError(refused(/^GPUs of 2 nodes are planned, and no Ray/))
    expect(options(nodes).nodes).toBe(2)
    expect(checkMachines(both, true)).toMatch(/^the trainer is on 2 nodes: .* unencrypted/)
    const samplers = { ...nodes, mode: 'both', 'explorer.rollout_model.engine_num': 8 }
    expect(checkMachines(withKeys({ ...TORCH, ...samplers }), true)).toBeUndefined()
    expect(() => checkMachines(withKeys(TORCH, { gpus: 8, pytorch: true }), false)).not.toThrow()
  })
  it('of trainer count for every model, those of the tree for their own', () => {
    const tree = 'trainer.trainer_config.actor_rollout_ref'
    const given = options({
      'trainer.param_offload': true,
      [`${tree}.actor.fsdp_config.param_offload`]: false,
      [`${tree}.actor.fsdp_config.dtype`]: 'fp32',
      [`${tree}.actor.use_torch_compile`]: false,
      [`${tree}.actor.use_cuda_graphs`]: false,
      'trainer.trainer_config.critic.model.fsdp_config.optimizer_offload': true,
    })
    expect(given.policy).toMatchObject({
      paramOffload: false,
      optimizerOffload: false,
      dtype: 'float32',
      compile: false,
      record: false,
    })
    expect(given.reference).toMatchObject({ paramOffload: true, dtype: undefined })
    expect(given.critic).toMatchObject({ paramOffload: true, optimizerOffload: true })
    expect(options({ 'trainer.offload_policy': true }).policy).toMatchObject({
      paramOffload: true,
      optimizerOffload: true,
    })
  })
  it('say how long workers wait for each other', () => {
    expect(options().timeoutMs).toBe(600_000)
    expect(options({ 'trainer.trainer_config.actor_rollout_ref.nccl_timeout': 90 }).timeoutMs).toBe(90_000)
  })
  it('give samplers processes of their own where rollout and trainer have different GPUs', () => {
    const both = { mode: 'both', 'trainer.trainer_type': 'torch', 'explorer.rollout_model.engine_type': 'torch' }
    const of = (keys: Record<string, unknown>) =>
      torchOptions(withKeys({ ...both, ...keys }, { gpus: 4, pytorch: true }))
    const four = { 'cluster.node_num': 1, 'cluster.gpu_per_node': 4 }
    expect(of({ ...four, 'explorer.rollout_model.engine_num': 2 })).toMatchObject({ devices: 2, samplers: [[2], [3]] })
    expect(of({ ...four, mode: 'train', 'buffer.train_batch_size': 8 })).toMatchObject({
      devices: 4,
      samplers: undefined,
    })
    for (const mode of ['explore', 'bench'])
      expect(of({ ...four, mode, 'explorer.rollout_model.engine_num': 3 }).samplers).toEqual([[0], [1], [2]])
    expect(of({ mode: 'explore' }).samplers).toEqual([[0]])
    const one = { mode: 'colocate', 'cluster.node_num': 1, 'cluster.gpu_per_node': 1 }
    expect(of(one).samplers).toBeUndefined()
  })
  it('make several samplers of an engine with several GPUs, unless its model is too large for one', () => {
    const config = withKeys(
      {
        mode: 'explore',
        'explorer.rollout_model.tensor_parallel_size': 4,
        'explorer.auxiliary_models': [{ model_path: 'j', engine_num: 2, data_parallel_size: 2 }],
      },
      { gpus: 8, pytorch: true },
    )
    const judge = [[4], [5], [6], [7]]
    expect(torchOptions(config)).toMatchObject({ samplers: [[0], [1], [2], [3]], auxiliary: [{ samplers: judge }] })
    const large = torchOptions(config, undefined, new Set(['rollout', 0] as const))
    expect(large).toMatchObject({ samplers: [[0, 1, 2, 3]], auxiliary: [{ samplers: judge }] })
    expect(notesOfReplicas(config, new Set())).toEqual([
      expect.stringMatching(/^explorer\.rollout_model\.tensor_parallel_size: .* 4 samplers, which is faster \(4 samp/),
      expect.stringMatching(/^explorer\.auxiliary_models\[0\].* 2 samplers, which is faster \(4 samplers in all\)$/),
    ])
    expect(notesOfReplicas(config, new Set(['rollout', 0] as const))).toEqual([])
  })
  it('read arguments of the sampler, each model its own, and refuse what makes no sense with the key', () => {
    const args = (given: Record<string, unknown>) => ({ 'explorer.rollout_model.extra_engine_args': given })
    expect(options(args({ batch_invariant: true, max_num_seqs: 7, enforce: 1 }))).toMatchObject({
      exact: true,
      maxBatch: 7,
    })
    for (const max_num_seqs of [0, 1.5, 'many'])
      expect(() => options(args({ max_num_seqs }))).toThrowError(
        expect.objectContaining({
          code: 'args/invalid',
          path: 'explorer.rollout_model.extra_engine_args.max_num_seqs',
        }),
      )
  })
  it('make trainer and sampler compute alike by one key', () => {
    const given = options({ 'trainer.exact_logprobs': true })
    expect(given).toMatchObject({ exact: true, policy: { exactLogprobs: true } })
    expect(given.critic?.exactLogprobs).toBeUndefined()
    expect(options().policy?.exactLogprobs).toBeUndefined()
  })
  it('let samplers read the weights in place only where sampling and training alternate', () => {
    const of = (keys: Record<string, unknown>) => options({ mode: 'both', ...keys }, 2).shareStorage
    expect(of({})).toBe(true)
    expect(of({ 'synchronizer.sync_interval': 2 })).toBe(false)
    expect(of({ 'synchronizer.sync_offset': 1 })).toBe(false)
    expect(of({ 'synchronizer.sync_style': 'explorer_driven' })).toBe(false)
  })
  it('refuse number formats that nothing computes in', () => {
    const key = 'trainer.trainer_config.actor_rollout_ref.ref.fsdp_config.dtype'
    expect(() => options({ [key]: 'float16' })).toThrowError(
      expect.objectContaining({ code: 'config/dtype', path: key }),
    )
  })
  it('write the workers lines into files of their own', () => {
    const lines: string[] = []
    const logger = (name: string) => ({ info: (line: string) => void lines.push(`${name} ${line}`) })
    const { log } = torchOptions(withKeys({ ...TORCH }), { logger, close: async () => {} } as never)
    log?.(0, 'a')
    log?.(1, 'b')
    expect(lines).toEqual(['torch_0 a', 'torch_1 b'])
  })
})
