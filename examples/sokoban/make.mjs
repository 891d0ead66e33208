// Makes what sokoban.yaml needs, into examples/sokoban/made: a tiny model with random weights, rooms to train on and to test
// with, and what a careless student does in those for training. Run it in the root of the repository, after a build.
//
//   node examples/sokoban/make.mjs
import { openEnvironment } from 'trinity-rft'
import { lessons, wayToGoal } from '../lib/lessons.mjs'
import { make } from '../lib/made.mjs'

const world = await openEnvironment('sokoban', { dim_room: 5 })
/** Different rooms that take two to six moves. */
async function rooms(count) {
  const found = new Map()
  for (let seed = 0; found.size < count; seed++) {
    const { observation } = await world.reset({ row: { seed }, seed: 0 })
    if (found.has(observation)) continue
    const { length } = await wayToGoal(world)
    if (length >= 2 && length <= 6) found.set(observation, { seed })
  }
  return [...found.values()]
}

const all = await rooms(700)
const [test, train] = [all.slice(0, 200), all.slice(200)]
await make(import.meta.url, {
  words: [' # ', ' _ ', ' O ', ' √ ', ' X ', ' P ', ' S ', 'up', 'down', 'left', 'right'],
  characters: '\n',
  train,
  test,
  answers: await lessons(world, [...train, ...train, ...train], { care: 0.6, steps: 8 }),
})
await world.close()
