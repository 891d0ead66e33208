import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { TrinityError } from '../base/error.js'
import { writeJsonFile } from '../base/file/atomic-file.js'
import { readJsonObject } from '../base/file/json-file.js'
import { sha256 } from '../base/file/sha256.js'

/** What is known of a file that was written. */
const fileRecord = z.object({
  /** Absent: it does not hold rows. */
  rows: z.int().nonnegative().optional(),
  bytes: z.int().nonnegative(),
  sha256: z.string(),
  /** The options it was made with. */
  args: z.record(z.string(), z.unknown()),
})
export type FileRecord = z.output<typeof fileRecord>

const contents = z.object({
  name: z.string(),
  source: z.string(),
  license: z.string(),
  files: z.record(z.string(), fileRecord),
})
export type Contents = z.output<typeof contents>

export const RECORD = 'dataset.json'

/** What `trinity data` wrote into a folder; undefined: nothing. */
export async function readRecord(folder: string): Promise<Contents | undefined> {
  const path = join(folder, RECORD)
  const object = await readJsonObject(path)
  if (!object) return undefined
  const { data, error } = contents.safeParse(object)
  if (data) return data
  throw new TrinityError('dataset/record', `${path} is not what trinity data writes: ${z.prettifyError(error)}`, {
    path,
    hint: 'give another folder with --out, or move this file away',
  })
}

export async function writeRecord(folder: string, record: Contents): Promise<void> {
  await writeJsonFile(join(folder, RECORD), record)
}

export type FileState = 'unchanged' | 'changed' | 'missing'

/** Compares a file with what was recorded of it. */
export async function stateOf(path: string, { bytes, sha256: expected }: FileRecord): Promise<FileState> {
  const found = await stat(path).catch(() => undefined)
  if (!found) return 'missing'
  return found.isFile() && found.size === bytes && (await sha256(path)) === expected ? 'unchanged' : 'changed'
}
