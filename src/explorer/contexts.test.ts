import { describe, expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { silent, speaker, taskOf, text } from '../../test/support/workflow-kit.js'
import { contextFactory, rolloutSeed } from './contexts.js'

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

describe('the model of a rollout', () => {
  it('treats unknown request fields as the configuration says', async () => {
    const model = [await speaker(() => 'x')]
    const treated = (set: Record<string, unknown>) => {
      const contextOf = contextFactory({ config: withKeys(set), model, text }, () => silent)
      const job = {
        batch: 1,
        kind: 'train' as const,
        task: taskOf({ workflow: 'w' }),
        taskId: 0,
        entry: async () => [],
      }
      const place = { run: 0, repeat: 1, attempt: 0, runner: 0 }
      return contextOf({ ...job, first: 0, count: 1 }, place, new AbortController().signal).model.unknownFields
    }
    expect(treated({})).toBe('ignore')
    expect(treated({ 'explorer.rollout_model.unknown_request_fields': 'refuse' })).toBe('refuse')
  })
})
