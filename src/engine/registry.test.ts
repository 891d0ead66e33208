import { describe, expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { trainerNeeds } from '../trainer/needs.js'
import { engineLookup, engineNamed, engines, openEngine } from './registry.js'

const config = withKeys({ 'algorithm.algorithm_type': 'grpo' })
const context = {
  needs: trainerNeeds(config),
  readModel: () => Promise.reject(new Error('no model is read here')),
  note: () => {},
}

describe('opening an engine', () => {
  it('opens those that are here, and each is what its description says', async () => {
    for (const name of engines.names()) {
      const engine = await openEngine(name, config, context)
      const { caps } = engines.get(name)
      expect(engine.name).toBe(name)
      expect({ ...engine.caps, weights: [], replicas: false }).toEqual({ ...caps, weights: [], replicas: false })
      expect(caps.weights).toEqual(expect.arrayContaining([...engine.caps.weights]))
      await engine.close()
    }
  })

  it('suggests the nearest name', () => {
    expect(() => engineNamed('natve')).toThrowError(
      expect.objectContaining({ hint: expect.stringContaining("'native'") }),
    )
  })
})

describe('adding an engine', () => {
  it('wants a whole description, under its own name', () => {
    const native = engines.get('native')
    expect(() => engines.add('mine', native)).toThrowError(/'mine' is described as 'native'/)
    expect(() => engines.add('half', { name: 'half', doc: 'half' } as never)).toThrowError(/'half' lacks roles, caps/)
    expect(engines.has('mine')).toBe(false)
  })
})

describe('the engines of a configuration', () => {
  it('are found by name and by the words of existing files', () => {
    expect(engineLookup.find('verl')).toBe(engines.get('torch'))
    expect(engineLookup.find('native')).toBe(engines.get('native'))
    for (const word of ['vllm', 'vllm_async', 'vllm_v1']) expect(engineLookup.find(word)).toBe(engines.get('vllm'))
  })
})
