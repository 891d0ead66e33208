import { describe, expect, it } from 'vitest'
import { withKeys } from '../../../test/config-kit.js'
import type { ContextParts } from '../../explorer/contexts.js'
import { debugConfig, fingerprint, toServe } from './models.js'

const keys = {
  'explorer.rollout_model.engine_num': 3,
  'explorer.auxiliary_models': [
    { name: 'judge', model_path: 'j', engine_type: 'mock', engine_num: 2 },
    { model_path: 'k', engine_type: 'mock' },
  ],
}

describe('models to debug with', () => {
  it('have one engine each', () => {
    const { explorer } = debugConfig(withKeys(keys))
    expect([explorer.rollout_model, ...explorer.auxiliary_models].map((one) => one.engine_num)).toEqual([1, 1, 1])
    expect(explorer.auxiliary_models[0].name).toBe('judge')
  })

  it('are other models when a path, a length or a seed is another, and only then', () => {
    const base = fingerprint(withKeys(keys))
    expect(fingerprint(withKeys({ ...keys, 'buffer.batch_size': 7, name: 'other' }))).toBe(base)
    for (const change of [{ 'model.model_path': 'n' }, { 'model.max_model_len': 1024 }]) {
      expect(fingerprint(withKeys({ ...keys, ...change }))).not.toBe(base)
    }
    expect(fingerprint(withKeys({}))).not.toBe(base)
  })

  it('are served in the order in which they are asked for: rollout, then auxiliary', () => {
    const config = withKeys(keys)
    const auxiliary = config.explorer.auxiliary_models.map((one) => ({ config: one, reward: {} }))
    const served = toServe({ config, model: ['sampler'], auxiliary } as unknown as ContextParts)
    expect(served.map(({ name, role }) => [name, role])).toEqual([
      ['m', 'rollout'],
      ['judge', 'auxiliary'],
      ['auxiliary_1', 'auxiliary'],
    ])
  })
})
