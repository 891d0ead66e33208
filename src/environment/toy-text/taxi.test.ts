import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { describeEnvironment } from '../../testing/environment.js'
import { openEnvironment } from '../index.js'

// Seed 3 of Gymnasium: the taxi at row 0, column 2, the passenger at R, who wants to go to Y.
const FETCH = ['south', 'south', 'west', 'west', 'north', 'north', 'pickup']
const RIDE = [...FETCH, 'south', 'south', 'south', 'south', 'dropoff']
const EPISODE = { row: { seed: 3 }, seed: 0 }

describeEnvironment(vitest, 'taxi', {
  open: () => openEnvironment('taxi'),
  episodes: [1, 2, 3, 4].map((seed) => ({ row: { seed }, seed: 0 })),
  ending: { episode: EPISODE, actions: RIDE },
  refused: ({ metrics }) => metrics?.valid_action === 0,
})

describe('taxi', () => {
  it('shows where everybody is', async () => {
    const world = await openEnvironment('taxi')
    const { observation } = await world.reset(EPISODE)
    expect(observation).toBe(`+---------+
|R: |T: :G|
| : | : : |
| : : : : |
| | : | : |
|Y| : |B: |
+---------+
Taxi: row 0, column 2. Passenger: at R. Destination: Y.`)
  })

  it('pays for the passenger who arrives, and only there', async () => {
    const world = await openEnvironment('taxi')
    await world.reset(EPISODE)
    expect(await world.step('pickup')).toMatchObject({ reward: -10, done: false })
    expect(await world.step('dropoff')).toMatchObject({ reward: -10, done: false })
    const rewards = []
    for (const action of FETCH) rewards.push((await world.step(action)).reward)
    const back = await world.step('dropoff')
    expect(back).toMatchObject({ reward: -1, done: false })
    expect(back.observation).toContain('Passenger: at R.')
    expect((await world.step('pickup')).observation).toContain('Passenger: in the taxi.')
    for (const action of RIDE.slice(FETCH.length)) rewards.push((await world.step(action)).reward)
    expect(rewards).toEqual([...RIDE.slice(1).map(() => -1), 20])
  })

  it('does not drive through walls', async () => {
    const world = await openEnvironment('taxi')
    await world.reset(EPISODE)
    const places = []
    for (const action of ['west', 'north', 'east', 'south', 'south', 'south', 'west']) {
      places.push(
        /row (\d), column (\d)/
          .exec((await world.step(action)).observation)!
          .slice(1)
          .join(''),
      )
    }
    expect(places).toEqual(['02', '02', '03', '13', '23', '33', '33'])
  })
})
