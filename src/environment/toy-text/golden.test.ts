import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { testData } from '../../../test/support/test-data.js'
import { openEnvironment } from '../index.js'
import { FrozenLake } from './frozen-lake.js'
import { randomMap } from './frozen-map.js'
import { type Answers, questions } from './oracle.fixture.js'
import { expectEqual } from './replay.fixture.js'

const golden: Answers = JSON.parse(readFileSync(new URL('./golden-gymnasium.json', import.meta.url), 'utf8'))

describe('Gymnasium 1.4', () => {
  it('plays the same episodes for the same seeds and actions, draws the same maps, has the same tables', () => {
    expectEqual(questions(12), golden)
  })
})

const data = testData('gym_toy')
const lines = (name: string) =>
  readFileSync(`${data.path}/${name}`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

describe.skipIf(data.absent)(`recorded data of Gymnasium 1.3${data.note}`, () => {
  it('300 random maps', () => {
    for (const { size, p, seed, map } of lines('frozenlake_random_maps.jsonl')) {
      expect(randomMap({ size, p, seed, start: 'corner', longest: Number.POSITIVE_INFINITY })).toEqual(map)
    }
  })

  it('tables of both maps, slippery and not', () => {
    const { maps, P } = JSON.parse(readFileSync(`${data.path}/frozenlake_transition_tables.json`, 'utf8'))
    expect(Object.keys(P)).toHaveLength(4)
    for (const [name, table] of Object.entries<Record<string, Record<string, unknown>>>(P)) {
      const [size, slippery] = name.split('|slippery=')
      const lake = new FrozenLake(maps[size], {
        is_slippery: slippery === 'True',
        success_rate: 1 / 3,
        reward_schedule: [1, 0, 0],
      })
      for (const [state, actions] of Object.entries(table)) {
        for (const [action, outcomes] of Object.entries(actions)) {
          expect(lake.outcomes(Number(state), Number(action))).toEqual(outcomes)
        }
      }
    }
  })

  it('300 games of Blackjack', async () => {
    const world = await openEnvironment('blackjack', { sab: false })
    for (const { seed, transitions } of lines('blackjack_episodes.jsonl')) {
      let { observation } = await world.reset({ row: { seed }, seed: 0 })
      for (const [before, action, reward, done, after] of transitions) {
        expect(seen(observation)).toEqual(before)
        const step = await world.step(action === 1 ? 'hit' : 'stick')
        expect([step.reward, step.done, seen(step.observation)]).toEqual([reward, done, after])
        observation = step.observation
      }
    }
  })
})

/** Sum, the dealer's card, and whether an ace counts 11. */
function seen(observation: string): number[] {
  const [, sum, ace, dealer] = /Sum: (\d+)( with a usable ace)?\. The dealer shows (\d+)\./.exec(observation)!
  return [Number(sum), Number(dealer), ace ? 1 : 0]
}
