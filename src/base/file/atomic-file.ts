import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { stringifyNumbers } from '../json-numbers.js'
import { inWords, systemError } from './system-error.js'
import { unlessInterrupted } from './unfinished.js'

/** The name of a file for which this one was being written when the process died, or the name itself. */
export function finalName(name: string): string {
  return name.replace(/(\.\d+(-[0-9a-f]{8})?)?\.tmp$/, '')
}

/**
 * Writes a file beside its destination, makes it durable, then renames it: a reader sees the old file or the new one,
 * never a part, whenever the process is killed.
 */
export async function atomicFile(path: string, write: (handle: FileHandle) => Promise<void>): Promise<void> {
  const beside = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`
  const handle = await inWords(open(beside, 'wx'))
  try {
    await unlessInterrupted(beside, () => write(handle))
    await handle.sync()
    await handle.close()
    await rename(beside, path)
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(beside, { force: true })
    throw systemError(error, path)
  }
}

/** Writes a JSON file. Numbers of objects that were read with `keepNumbers` keep their spelling. */
export async function writeJsonFile(path: string, value: unknown): Promise<void> {
  await atomicFile(path, (handle) => handle.writeFile(`${stringifyNumbers(value)}\n`))
}
