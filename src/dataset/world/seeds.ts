import { z } from 'zod'
import { dataset } from '../dataset.js'
import { splitsOf, writeSplits } from './splits.js'
import { inSteps, worldYaml } from './yaml.js'

/** Worlds that make a whole episode of a number. */
const WORLDS = [
  ...['grid_world', 'frozen_lake', 'cliff_walking', 'taxi', 'blackjack', 'sokoban'],
  ...['number_line', 'ez_points', 'points24', 'card_blackjack', 'sudoku'],
] as const

const args = z.strictObject({
  world: z.enum(WORLDS).describe('the world that plays them'),
  train: z.int().nonnegative().default(1000),
  test: z.int().nonnegative().default(100),
  seed: z.int().nonnegative().default(0).describe('the first'),
})

export const seeds = dataset({
  doc: 'seeds for small worlds that draw their episodes: cards, taxis, lakes, rooms',
  source: 'generated',
  license: 'none needed',
  args,
  async prepare({ world, seed, ...counts }, place) {
    function* rows() {
      for (let at = seed; ; at++) yield { seed: at }
    }
    await writeSplits(place, counts, rows)
  },
  yaml: ({ world, ...counts }, folder) => worldYaml(world, folder, inSteps(world), splitsOf(counts)),
})
