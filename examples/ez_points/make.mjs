// Makes what ez_points.yaml needs, into examples/ez_points/made: a tiny model with random weights, deals to train on and to
// test with, and what a careless student does with others. Run it in the root of the repository, after a build.
//
//   node examples/ez_points/make.mjs
import { openEnvironment } from 'trinity-rft'
import { lessons } from '../lib/lessons.mjs'
import { make } from '../lib/made.mjs'

const deals = (from, count) => Array.from({ length: count }, (_, i) => ({ seed: from + i }))
const world = await openEnvironment('ez_points')

await make(import.meta.url, {
  words: ['Cards: ', '. Numbers: ', '. Target: ', '. Formula: ', ', ', '10', '12', ' +', ' *'],
  characters: '123456789TJQKHSDC _=+*',
  train: deals(0, 1000),
  test: deals(100_000, 200),
  answers: await lessons(world, deals(200_000, 1500), { care: 0.85, steps: 6 }),
})
await world.close()
