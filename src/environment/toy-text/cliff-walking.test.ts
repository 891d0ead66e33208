import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { describeEnvironment } from '../../testing/environment.js'
import { environmentOf, openEnvironment } from '../index.js'

const AROUND = ['up', ...Array.from({ length: 11 }, () => 'right'), 'down']

describeEnvironment(vitest, 'cliff_walking', {
  open: () => openEnvironment('cliff_walking', { is_slippery: true }),
  episodes: [1, 2, 3].map((seed) => ({ row: { seed }, seed: 0 })),
  ending: { episode: { row: {}, seed: 48 }, actions: slide() },
  refused: ({ metrics }) => metrics?.valid_action === 0,
})

/** Steps to the goal on slippery ground, for one seed: always towards it, away from the cliff. */
function slide(): string[] {
  const { entry, args } = environmentOf('cliff_walking', { is_slippery: true })
  const world = entry.create(args, {}) as {
    reset(e: object): { observation: string }
    step(a: string): { observation: string; done: boolean }
  }
  let { observation } = world.reset({ row: {}, seed: 48 })
  const actions: string[] = []
  for (let done = false; !done; ) {
    const column = observation
      .split('\n')
      .flatMap((line) => line.split('  ').indexOf('x'))
      .find((at) => at >= 0)
    actions.push(column === 11 ? 'down' : observation.startsWith('x') ? 'right' : column === 0 ? 'up' : 'right')
    const step = world.step(actions[actions.length - 1])
    observation = step.observation
    done = step.done
  }
  return actions
}

describe('cliff_walking', () => {
  it('is reached around the cliff; into it, one starts over', async () => {
    const world = await openEnvironment('cliff_walking')
    const start = await world.reset({ row: {}, seed: 0 })
    expect(start.observation.split('\n')[3]).toBe('x  C  C  C  C  C  C  C  C  C  C  T')
    expect(await world.step('right')).toEqual({
      observation: start.observation,
      reward: -100,
      done: false,
      won: false,
      metrics: { valid_action: 1 },
    })
    const steps = []
    for (const action of AROUND) steps.push(await world.step(action))
    expect(steps.map(({ reward }) => reward)).toEqual(AROUND.map(() => -1))
    expect(steps.at(-1)).toMatchObject({ done: true, won: true })
  })

  it('tells the rules and takes the action in backticks', () => {
    const { entry, args } = environmentOf('cliff_walking', {})
    const turn = { step: 3, maxSteps: 9, observation: 'x', past: [] }
    expect(entry.persona(args).prompt(turn)).toBe('x\nSteps remaining: 6.')
    expect(entry.persona(args).action('```Left```', turn)).toBe('Left')
    expect(entry.persona(args).action('left', turn)).toMatchObject({ metrics: { valid_action: 0 } })
  })
})
