import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { isJsonObject, readJsonObject } from '../base/file/json-file.js'
import { exists } from './durable.js'
import { readMark } from './job-mark.js'
import { isHalfDone, MANIFEST, MARKS, WRITTEN } from './layout.js'

/** Files that a checkpoint, or a folder of weights, says were written into it; undefined: it says nothing. */
export async function listedIn(dir: string): Promise<Set<string> | undefined> {
  for (const name of [MANIFEST, WRITTEN]) {
    const path = join(dir, name)
    if (!(await lstat(path).catch(() => undefined))?.isFile()) continue
    const files = (await readJsonObject(path).catch(() => undefined))?.files
    if (Array.isArray(files)) return new Set(files.map(String))
    if (isJsonObject(files)) return new Set(Object.keys(files))
  }
  return undefined
}

/**
 * Whether a folder `global_step_…` of a job directory is somebody else's: it is a link, was there before the job, or is
 * the folder of another job.
 */
export async function isForeign(dir: string, name: string): Promise<boolean> {
  const path = join(dir, name)
  if (!(await lstat(path).catch(() => undefined))?.isDirectory()) return true
  return ((await readMark(dir))?.found.includes(name) ?? false) || exists(join(path, MARKS))
}

/** Whether it may be deleted as the job's own: it says what was written into it, or was not whole yet. */
export async function isOwn(dir: string, name: string): Promise<boolean> {
  if (await isForeign(dir, name)) return false
  return isHalfDone(name) || (await listedIn(join(dir, name))) !== undefined
}
