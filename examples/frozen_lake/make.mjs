// Makes what frozen_lake.yaml needs, into examples/frozen_lake/made: a tiny model with random weights, maps to train on and
// to test with, and what a careless student does on others. Run it in the root of the repository, after a build.
//
//   node examples/frozen_lake/make.mjs
import { openEnvironment } from 'trinity-rft'
import { lessons } from '../lib/lessons.mjs'
import { make } from '../lib/made.mjs'

const maps = (from, count) => Array.from({ length: count }, (_, i) => ({ seed: from + i }))
const world = await openEnvironment('frozen_lake', { size: 3 })

await make(import.meta.url, {
  words: [' P \t', ' _ \t', ' O \t', ' G \t', 'up', 'down', 'left', 'right'],
  characters: '\n',
  train: maps(0, 1000),
  test: maps(100_000, 200),
  answers: await lessons(world, maps(200_000, 1500), { care: 0.55, steps: 6 }),
})
await world.close()
