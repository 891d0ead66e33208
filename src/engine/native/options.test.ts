import { describe, expect, it } from 'vitest'
import { withKeys } from '../../../test/config-kit.js'
import { idleKeys, nativeOptions } from './options.js'

const ARGS = 'explorer.rollout_model.extra_engine_args'
const config = (args?: Record<string, unknown>) => withKeys(args ? { [ARGS]: args } : {})

describe('options of the native engine', () => {
  it('sample in 32 bits unless extra_engine_args say otherwise: dtype beside them is for servers', () => {
    expect(nativeOptions(config())).toEqual({ dtype: 'float32', auxiliary: [] })
    expect(nativeOptions(config({ dtype: 'bfloat16' })).dtype).toBe('bfloat16')
  })
  it('refuse a format that the engine does not have', () => {
    expect(() => nativeOptions(config({ dtype: 'float8' }))).toThrowError(
      expect.objectContaining({ path: expect.stringContaining(ARGS) }),
    )
  })
  it('name the arguments of other engines', () => {
    const keys = idleKeys(config({ dtype: 'bfloat16', max_num_seqs: 8 })).flatMap((one) => one.keys)
    expect(keys).toContain(`${ARGS}.max_num_seqs`)
    expect(keys).not.toContain(`${ARGS}.dtype`)
    expect(keys).not.toContain(ARGS)
  })
})
