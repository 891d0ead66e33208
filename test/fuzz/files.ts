import { DATA_READERS } from './data-readers.js'
import { JOB_READERS } from './job-readers.js'
import { MODEL_READERS } from './model-readers.js'
import type { FileReader } from './run-files.js'
import { WORLD_READERS } from './world-readers.js'

/** All readers of user files. */
export const FILE_READERS: readonly FileReader[] = [...DATA_READERS, ...MODEL_READERS, ...JOB_READERS, ...WORLD_READERS]

/** Number of cases of a reader in a run of `total` cases over all readers. */
export function casesOf(reader: FileReader, total: number): number {
  const weights = FILE_READERS.reduce((sum, { weight = 1 }) => sum + weight, 0)
  return Math.max(1, Math.round((total * (reader.weight ?? 1)) / weights))
}
