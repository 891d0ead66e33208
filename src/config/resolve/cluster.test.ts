import { describe, expect, it } from 'vitest'
import { BASE, errorsOf, resolveAll, settings, withKeys } from '../../../test/config-kit.js'
import { GPU_KEYS } from '../../engine/gpu-keys.js'
import { schemaDefault } from '../schema-default.js'

const split = (set: Record<string, unknown>, machine = {}) => {
  const { cluster } = withKeys(set, machine)
  return [
    cluster.total_gpu_num,
    cluster.rollout_gpu_num,
    cluster.auxiliary_model_gpu_num,
    cluster.explorer_gpu_num,
    cluster.trainer_gpu_num,
  ]
}
const GPUS = { 'cluster.node_num': 1, 'cluster.gpu_per_node': 8 }
const engines = (n: number, tp = 1) => ({
  'explorer.rollout_model.engine_num': n,
  'explorer.rollout_model.tensor_parallel_size': tp,
})
const gpuError = (set: Record<string, unknown>) => errorsOf(() => withKeys(set)).find((one) => one.code === 'gpu-split')

describe('GPU split', () => {
  it('the trainer gets what engines and auxiliary models leave', () => {
    expect(split({ ...GPUS, ...engines(2) })).toEqual([8, 2, 0, 2, 6])
    expect(
      split({
        ...GPUS,
        ...engines(1, 2),
        'explorer.auxiliary_models': [{ model_path: 'a', engine_num: 2, tensor_parallel_size: 2 }],
      }),
    ).toEqual([8, 2, 4, 6, 2])
    expect(split({ ...GPUS, mode: 'train', 'buffer.train_batch_size': 4, ...engines(2) })).toEqual([8, 0, 0, 0, 8])
    expect(split({ ...GPUS, mode: 'explore', ...engines(8) })).toEqual([8, 8, 0, 8, 0])
  })

  it('numbers beyond any cluster are refused before anything is dealt out', () => {
    for (const key of ['cluster.gpu_per_node', 'cluster.node_num']) {
      const [error] = errorsOf(() => withKeys({ ...GPUS, [key]: 1_722_229_619 }))
      expect(error).toMatchObject({ message: expect.stringMatching(/an integer, at most \d+, found 1722229619/) })
    }
    expect(split({ 'cluster.node_num': 10_000, 'cluster.gpu_per_node': 256, ...engines(256) })[0]).toBe(2_560_000)
  })

  it('nodes of Ray are counted where the file does not', () => {
    const torch = { 'trainer.trainer_type': 'torch', 'explorer.rollout_model.engine_type': 'torch', ...engines(4) }
    const counted = (set: Record<string, unknown>, nodes: readonly number[] | undefined) => {
      const { cluster } = withKeys({ ...torch, ...set }, { gpus: 8, pytorch: true, nodeGpus: () => nodes })
      return [cluster.node_num, cluster.gpu_per_node, cluster.trainer_gpu_num]
    }
    expect(counted({}, undefined)).toEqual([1, 8, 4])
    expect(counted({}, [4, 0, 4])).toEqual([2, 4, 4])
    expect(counted({}, [8, 4])).toEqual([2, 4, 4])
    expect(counted({ 'cluster.gpu_per_node': 8 }, [8, 4])).toEqual([1, 8, 4])
    expect(counted({ 'cluster.node_num': 1 }, [8, 8])).toEqual([1, 8, 4])
    expect(counted({}, [0, 0])).toEqual([1, 8, 4])
  })

  it('one that does not fit is an error with the numbers', () => {
    expect(gpuError({ ...GPUS, ...engines(8) })?.message).toBe(
      'nothing is left for the trainer: 1 × 8 = 8 GPUs; rollout takes 8 (8 × 1), auxiliary models 0',
    )
    expect(gpuError({ ...GPUS, ...engines(5, 2) })?.message).toBe(
      'there are not enough GPUs: 1 × 8 = 8 GPUs; rollout takes 10 (5 × 2), auxiliary models 0',
    )
    expect(gpuError({ ...GPUS, mode: 'explore', ...engines(9) })?.message).toMatch(/^there are not enough GPUs/)
  })

  it('explorer and trainer share one GPU, and a note says so; no other mode changes', () => {
    const one = resolveAll(BASE, { gpus: 1, pytorch: true })
    expect(one.stages[0].config.mode).toBe('colocate')
    expect(one.remarks).toContainEqual(expect.objectContaining({ code: 'one-gpu', key: 'mode' }))
    expect(withKeys({}, { gpus: 1, pytorch: true }).cluster).toMatchObject({ trainer_gpu_num: 1, rollout_gpu_num: 1 })
    expect(withKeys({ mode: 'bench' }, { gpus: 1, pytorch: true }).mode).toBe('bench')
    expect(withKeys({}, { gpus: 2, pytorch: true }).mode).toBe('both')
    expect(withKeys({}, { gpus: 1, pytorch: false }).mode).toBe('both')
    const two = { 'cluster.node_num': 1, 'cluster.gpu_per_node': 1, ...engines(2) }
    expect(gpuError(two)?.message).toMatch(/^there are not enough GPUs/)
  })

  it('several nodes: the trainer gets whole ones', () => {
    const nodes = { 'cluster.node_num': 3, 'cluster.gpu_per_node': 4 }
    const { cluster } = withKeys({ ...nodes, ...engines(4) })
    expect(cluster).toMatchObject({ trainer_gpu_num: 8, trainer_node_num: 2, trainer_gpu_num_per_node: 4 })
    expect(gpuError({ ...nodes, ...engines(2) })?.message).toMatch(/do not fill whole nodes of 4/)
    expect(withKeys({ ...nodes, ...engines(9) }).cluster).toMatchObject({
      trainer_gpu_num: 3,
      trainer_node_num: 1,
      trainer_gpu_num_per_node: 3,
    })
  })

  it('an engine larger than a node spans whole nodes', () => {
    const nodes = { 'cluster.node_num': 4, 'cluster.gpu_per_node': 4 }
    expect(withKeys({ ...nodes, ...engines(1, 8) }).explorer.rollout_model.nnodes).toBe(2)
    expect(gpuError({ ...nodes, ...engines(1, 6) })?.message).toMatch(/an engine takes 6 GPUs/)
    expect(
      gpuError({
        ...nodes,
        ...engines(1, 4),
        'explorer.rollout_model.data_parallel_size': 2,
        'explorer.rollout_model.engine_type': 'vllm_async',
      })?.message,
    ).toMatch(/cannot spread/)
  })

  it('an engine does not lie on parts of two nodes', () => {
    const nodes = { 'cluster.node_num': 2, 'cluster.gpu_per_node': 3, mode: 'explore' }
    expect(gpuError({ ...nodes, ...engines(3, 2) })).toMatchObject({
      message: expect.stringMatching(
        /^an engine would have GPUs of two nodes: 2 × 3 = 6 GPUs; rollout takes 6 \(3 × 2\)/,
      ),
      hint: expect.stringContaining('tensor_parallel_size'),
    })
    expect(withKeys({ ...nodes, ...engines(2, 2) }).cluster.rollout_gpu_num).toBe(4)
  })

  it('sequence parallel sizes divide the GPUs of the trainer', () => {
    expect(gpuError({ ...GPUS, ...engines(2), 'trainer.ulysses_sequence_parallel_size': 4 })?.key).toBe(
      'trainer.ulysses_sequence_parallel_size',
    )
    expect(
      withKeys({ ...GPUS, ...engines(4), 'trainer.ulysses_sequence_parallel_size': 4 }).cluster.trainer_gpu_num,
    ).toBe(4)
  })

  it('colocate shares one GPU', () => {
    const one = { mode: 'colocate', 'cluster.node_num': 1, 'cluster.gpu_per_node': 1 }
    expect(split(one)).toEqual([1, 1, 0, 1, 1])
    expect(
      withKeys({ ...one, 'explorer.rollout_model.gpu_memory_utilization': 0.8 }).explorer.rollout_model
        .gpu_memory_utilization,
    ).toBe(0.25)
    // its cache and the trainer's activations take turns
    const torch = { ...one, 'trainer.trainer_type': 'torch', 'explorer.rollout_model.engine_type': 'torch' }
    expect(withKeys(torch, { gpus: 1, pytorch: true }).explorer.rollout_model.gpu_memory_utilization).toBe(0.9)
    expect(gpuError({ ...GPUS, mode: 'colocate' })?.message).toMatch(/exactly one GPU/)
  })

  it('a machine without GPUs and a file without GPU keys is fine', () => expect(split({})).toEqual([0, 0, 0, 0, 0]))

  it('GPU keys on the native engine give a note each', () => {
    const notes = (set: Record<string, unknown>) =>
      resolveAll(BASE, { set: settings(set) }).remarks.map(({ key, message }) => `${key}: ${message}`)
    expect(notes({ ...GPUS, ...engines(2) })).toEqual([
      'cluster.node_num: the native engine uses no GPU',
      'cluster.gpu_per_node: the native engine uses no GPU',
    ])
    expect(notes({ 'trainer.param_offload': true, 'trainer.balance_batch': true })).toEqual([
      'trainer.param_offload: the native engine uses no GPU',
    ])
    expect(notes({ 'explorer.rollout_model.dtype': 'float16', 'model.trust_remote_code': true })).toEqual([
      'model.trust_remote_code: the native engine does not read it',
      'explorer.rollout_model.dtype: the native engine does not read it',
    ])
  })

  it('keys of a side are for its engine, others for both', () => {
    const torch = { 'explorer.rollout_model.engine_type': 'torch', 'trainer.trainer_type': 'native' }
    const given = { ...GPUS, 'explorer.rollout_model.enforce_eager': true, 'trainer.param_offload': true }
    const { remarks } = resolveAll(BASE, { set: settings({ ...torch, ...given }), gpus: 8, pytorch: true })
    expect(remarks.map(({ key }) => key)).toEqual(['trainer.param_offload'])
  })

  it('every key that is called one of GPUs is in the schema', () => {
    for (const key of GPU_KEYS) expect(schemaDefault(key.split('.')), key).not.toBeUndefined()
  })

  it('who names engines that need no GPU is not asked for any', () => {
    const native = { 'explorer.rollout_model.engine_type': 'native', 'trainer.trainer_type': 'native' }
    expect(() => withKeys({ ...GPUS, ...engines(20), ...native })).not.toThrow()
    expect(() => withKeys({ ...GPUS, ...engines(20), 'model.tinker.enable': true })).not.toThrow()
  })

  it('auto asks the machine', () => {
    const gpus = withKeys({}, { gpus: 4, pytorch: true })
    expect(gpus.cluster).toMatchObject({ node_num: 1, gpu_per_node: 4, rollout_gpu_num: 1, trainer_gpu_num: 3 })
    expect([gpus.explorer.rollout_model.engine_type, gpus.trainer.trainer_type]).toEqual(['torch', 'torch'])
    const without = withKeys({}, { gpus: 4, pytorch: false })
    expect([without.explorer.rollout_model.engine_type, without.trainer.trainer_type]).toEqual(['native', 'native'])
  })
})
