import { describe, expect, it } from 'vitest'
import { BASE, resolveAll, settings } from '../../../test/config-kit.js'
import { schemaDefault } from '../../config/schema-default.js'
import { TORCH_IDLE_KEYS } from './idle-keys.js'

describe('keys that the torch engine does not read', () => {
  const torch = { 'explorer.rollout_model.engine_type': 'torch', 'trainer.trainer_type': 'torch' }
  const remarks = (keys: Record<string, unknown>) => resolveAll(BASE, { set: settings({ ...torch, ...keys }) }).remarks

  it('are in the schema', () => {
    for (const key of TORCH_IDLE_KEYS) expect(schemaDefault(key.split('.')), key).not.toBeUndefined()
  })
  it('give notes, with the reason', () => {
    const keys = {
      'trainer.balance_batch': false,
      'trainer.trainer_strategy': 'megatron',
      'trainer.param_offload': true,
      'trainer.trainer_config.actor_rollout_ref.model.use_shm': true,
      'explorer.rollout_model.enable_log_requests': true,
      'explorer.rollout_model.base_port': 1,
      'explorer.rollout_model.enable_chunked_prefill': false,
      'explorer.rollout_model.weight_sync_buffer_size': 7,
      'algorithm.enable_router_replay': true,
      'model.trust_remote_code': true,
    }
    const found = remarks(keys).filter(({ code }) => code === 'no-effect')
    const of = (why: string) => found.filter(({ message }) => message.endsWith(why)).map(({ key }) => key)
    expect(of('packs, balances and shards (FSDP2) by itself')).toEqual([
      'trainer.trainer_strategy',
      'trainer.balance_batch',
      'trainer.trainer_config.actor_rollout_ref.model.use_shm',
    ])
    expect(of('does not read it').sort()).toEqual([
      'algorithm.enable_router_replay',
      'explorer.rollout_model.base_port',
      'explorer.rollout_model.enable_chunked_prefill',
      'explorer.rollout_model.enable_log_requests',
      'explorer.rollout_model.weight_sync_buffer_size',
      'model.trust_remote_code',
    ])
  })
  it('are arguments of other engines as well', () => {
    const args = { swap_space: 4, max_num_seqs: 8 }
    const found = remarks({ 'explorer.rollout_model.extra_engine_args': args }).filter(
      ({ code }) => code === 'no-effect',
    )
    expect(found.map(({ key, message }) => `${key}: ${message}`)).toEqual([
      'explorer.rollout_model.extra_engine_args.swap_space: the torch engine has no such argument',
    ])
  })
  it('are not mentioned when nobody sets them, or sets what is the case', () => {
    expect(remarks({ 'trainer.balance_batch': true }).filter(({ code }) => code === 'no-effect')).toEqual([])
  })
})
