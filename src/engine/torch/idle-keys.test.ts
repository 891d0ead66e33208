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
  it('give one note together', () => {
    const keys = {
      'trainer.balance_batch': false,
      'trainer.trainer_strategy': 'megatron',
      'trainer.param_offload': true,
    }
    const found = remarks({ ...keys, 'trainer.trainer_config.actor_rollout_ref.model.use_shm': true })
    expect(found.filter(({ code }) => code === 'no-effect')).toHaveLength(1)
    expect(found.find(({ code }) => code === 'no-effect')?.message).toMatch(
      /trainer_strategy, trainer.balance_batch, .*use_shm have no effect/,
    )
  })
  it('are not mentioned when nobody sets them, or sets what is the case', () => {
    expect(remarks({ 'trainer.balance_batch': true }).filter(({ code }) => code === 'no-effect')).toEqual([])
  })
})
