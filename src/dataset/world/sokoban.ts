import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { generateLevel } from '../../environment/sokoban/generate.js'
import { writeLevel } from '../../environment/sokoban/level.js'
import { STEPS } from '../../environment/sokoban/sokoban.js'
import { solve } from '../../environment/sokoban/solve.js'
import { dataset } from '../dataset.js'
import { boxobanRows, boxobanSplits } from './boxoban.js'
import { distinct, splitsOf, writeSplits } from './splits.js'
import { inSteps, worldYaml } from './yaml.js'

const args = z.strictObject({
  from: z.string().default('').describe('a folder of Boxoban (unfiltered, medium, hard) instead of generated rooms'),
  train: z.int().nonnegative().default(2000),
  test: z.int().nonnegative().default(200),
  size: z.int().min(5).max(30).default(6).describe('rows and columns of a room, walls included'),
  boxes: z.int().min(1).max(20).default(1),
  min_moves: z.int().min(1).default(1).describe('of the shortest solution'),
  max_moves: z.int().min(1).default(50),
  seed: z.int().nonnegative().default(0),
})
type Args = z.output<typeof args>

/** Different rooms whose shortest solution is in the range. */
function rooms({ size, boxes, min_moves, max_moves, seed }: Args) {
  return distinct('rooms', seed, (one) => {
    const level = generateLevel({ rows: size, columns: size, boxes, seed: one })
    const ways = solve(level)
    if (ways === undefined || ways.length < min_moves || ways.length > max_moves) return undefined
    return { level: writeLevel(level), solution: ways.map((way) => STEPS.names[way]), moves: ways.length }
  })
}

export const sokobanRooms = dataset({
  doc: 'rooms of Sokoban: generated ones with their solutions, or those of Boxoban',
  source: 'generated, or google-deepmind/boxoban-levels',
  license: 'none needed; Apache-2.0 for the levels of Boxoban',
  args,
  async prepare(given, place) {
    if (given.from === '') return writeSplits(place, given, () => rooms(given))
    for (const { split, files } of await boxobanSplits(given.from)) {
      await place.write(`${split}.jsonl`, boxobanRows(files), { from: given.from })
    }
  },
  yaml: (given, folder) => {
    const there = ['train', 'valid', 'test'].filter((split) => existsSync(join(folder, `${split}.jsonl`)))
    return worldYaml('sokoban', folder, inSteps('sokoban'), given.from === '' ? splitsOf(given) : there)
  },
})
