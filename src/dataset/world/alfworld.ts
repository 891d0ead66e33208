import { homedir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { z } from 'zod'
import { PythonRandom } from '../../base/random/index.js'
import type { DataRow } from '../../task/index.js'
import { dataset } from '../dataset.js'
import { gamesOf } from './alfworld-games.js'
import { worldYaml } from './yaml.js'

const args = z.strictObject({
  from: z
    .string()
    .default('')
    .describe('folder of ALFWorld, or of files with whole games; otherwise ALFWORLD_DATA, or ~/.cache/alfworld'),
  compact: z.boolean().default(false).describe('write the games themselves instead of their paths, compressed'),
  train: z.int().positive().optional().describe('how many games; all otherwise'),
  test: z.int().positive().optional(),
  test_split: z.enum(['valid_seen', 'valid_unseen', 'valid_train']).default('valid_seen'),
  seed: z.int().nonnegative().default(42),
})

/** Where alfworld-download puts the games. */
function usualFolder(): string {
  return process.env.ALFWORLD_DATA || join(homedir(), '.cache', 'alfworld')
}

/** Lines of JSON, compressed as they come. The same rows give the same bytes. */
async function* gzipped(rows: AsyncIterable<DataRow>): AsyncIterable<Buffer> {
  async function* lines() {
    for await (const row of rows) yield `${JSON.stringify(row)}\n`
  }
  const packed = createGzip({ level: 9 })
  // What goes wrong in it ends the iteration below, which tells it.
  pipeline(Readable.from(lines()), packed).catch(() => {})
  yield* packed
}

export const alfworldGames = dataset({
  doc: 'games of ALFWorld, in the splits and the order of the R3L study',
  source: 'ALFWorld (alfworld-download), made from ALFRED',
  license: 'MIT',
  args,
  async prepare({ from, compact, train, test, test_split, seed }, place) {
    const folder = from || usualFolder()
    // The study draws both from one stream of numbers.
    const random = new PythonRandom(seed)
    const parts = [
      { file: 'train', split: 'train', count: train },
      { file: 'test', split: test_split, count: test },
    ]
    for (const { file, split, count } of parts) {
      const games = await gamesOf(folder, split)
      const names = random.sample(games.names, Math.min(count ?? games.names.length, games.names.length))
      if (games.fileRow && !compact) await place.write(`${file}.jsonl`, names.map(games.fileRow))
      else await place.put(`${file}.jsonl.gz`, gzipped(games.rows(names)))
    }
  },
  yaml: (_, folder) => {
    const played = { workflow: 'environment_workflow', args: { environment: 'alfworld' } }
    return worldYaml('alfworld', folder, played, ['train', 'test'])
  },
})
