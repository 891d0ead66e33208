import { describe, expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { rolloutSeed } from './contexts.js'

describe('the seed of rollouts', () => {
  it('is the one that was given, and another for each further explorer', () => {
    const seedOf = (name: string, seed: number) =>
      rolloutSeed(withKeys({ 'explorer.name': name, 'explorer.rollout_model.seed': seed }))
    expect(seedOf('explorer', 42)).toBe(42)
    const seeds = ['e1', 'e2'].flatMap((name) => [seedOf(name, 1), seedOf(name, 2)])
    expect(new Set([1, 2, ...seeds]).size).toBe(6)
    expect(seedOf('e1', 1)).toBe(seeds[0])
  })
})
