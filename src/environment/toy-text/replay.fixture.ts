import { createHash } from 'node:crypto'
import { expect } from 'vitest'
import { environmentOf } from '../args.js'
import type { Environment } from '../environment.js'
import { CliffWalking } from './cliff-walking.js'
import { FrozenLake } from './frozen-lake.js'
import { randomMap } from './frozen-map.js'
import type { Answers, Case, MapCase, Questions } from './oracle.fixture.js'
import type { Table } from './table.js'
import { Taxi } from './taxi.js'

const WORLDS = {
  'FrozenLake-v1': ['frozen_lake', ['left', 'down', 'right', 'up']],
  'CliffWalking-v1': ['cliff_walking', ['up', 'right', 'down', 'left']],
  'Taxi-v4': ['taxi', ['south', 'north', 'east', 'west', 'pickup', 'dropoff']],
  'Blackjack-v1': ['blackjack', ['stick', 'hit']],
} as const

function open({ id, kwargs }: Pick<Case, 'id' | 'kwargs'>): { world: Environment; table?: Table } {
  const { entry, args } = environmentOf(WORLDS[id][0], kwargs)
  const world = entry.create(args, {}) as Environment
  const given = args as Record<string, never>
  if (id === 'FrozenLake-v1') return { world, table: new FrozenLake(given.desc, given as never) }
  if (id === 'CliffWalking-v1') return { world, table: new CliffWalking(given.is_slippery) }
  return id === 'Taxi-v4' ? { world, table: new Taxi(given as never) } : { world }
}

/** What a state of the real package looks like in ours. */
function shows(observation: string, state: unknown, table: Table | undefined): void {
  if (table) expect(observation).toBe(table.picture(state as number))
  else {
    const [sum, dealer, ace] = state as number[]
    expect(observation).toContain(`Sum: ${sum}${ace ? ' with a usable ace' : ''}. The dealer shows ${dealer}.`)
  }
}

function replay(asked: Case, answer: readonly unknown[]): void {
  const { world, table } = open(asked)
  const names = WORLDS[asked.id][1]
  const start = world.reset({ row: {}, seed: asked.seed }) as { observation: string }
  shows(start.observation, answer[0], table)
  for (const [i, [state, reward, done]] of (answer.slice(1) as [unknown, number, boolean][]).entries()) {
    const step = world.step(names[asked.actions[i]]) as { observation: string; reward: number; done: boolean }
    shows(step.observation, state, table)
    expect([step.reward, step.done]).toEqual([reward, done])
  }
}

/** SHA-256 of the table as the oracle makes it. */
function hashOf(asked: Pick<Case, 'id' | 'kwargs'>): string {
  const table = open(asked).table!
  const lines = table.start.flatMap((_, state) =>
    WORLDS[asked.id][1].flatMap((_, action) =>
      table.outcomes(state, action).map((outcome) => JSON.stringify([state, action, ...outcome])),
    ),
  )
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}

function draw({ longest, ...map }: MapCase): string {
  const start = longest === undefined ? 'corner' : 'anywhere'
  return randomMap({ ...map, start, longest: longest ?? Number.POSITIVE_INFINITY }).join('/')
}

/** All that the real package answers, from our worlds. */
export function expectEqual(asked: Questions, answers: Answers): void {
  expect(answers.episodes).toHaveLength(asked.episodes.length)
  for (const [i, one] of asked.episodes.entries()) replay(one, answers.episodes[i])
  expect(asked.maps.map(draw)).toEqual(answers.maps)
  expect(asked.tables.map(hashOf)).toEqual(answers.tables)
}
