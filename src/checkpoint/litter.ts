import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { BENCH, MARKS } from './layout.js'

/** A file that was on its way to its place: nothing reads it, and a killed process leaves it behind. */
const HALF_WRITTEN = /\.(\d+)-[0-9a-f]{8}\.tmp$/
/** A lock that was on its way to be taken. */
const HALF_TAKEN = /^\.lock-.+\.(takes-)?[0-9a-f]{16}(\.copy)?$/

/** Folders of a job in which files are written beside their destination as well. */
const FOLDERS = ['', MARKS, BENCH]

/**
 * Removes the half-written files and locks that killed processes have left in the folder of a job. Files of a process that
 * is alive stay.
 */
export async function removeLitter(
  dir: string,
  isAlive: (pid: number) => Promise<boolean>,
  silentMs: number,
): Promise<void> {
  for (const folder of FOLDERS) await removeLitterIn(join(dir, folder), isAlive, silentMs)
}

async function removeLitterIn(
  dir: string,
  isAlive: (pid: number) => Promise<boolean>,
  silentMs: number,
): Promise<void> {
  for (const name of await readdir(dir).catch((): string[] => [])) {
    const path = join(dir, name)
    const writer = HALF_WRITTEN.exec(name)?.[1]
    let isOver = false
    if (HALF_TAKEN.test(name)) {
      const pid = await takerOf(path)
      // Of a process of another machine nothing is known but when it last wrote.
      isOver = pid === undefined ? await isOld(path, silentMs) : !(await isAlive(pid))
    } else if (writer !== undefined) isOver = (await isOld(path, silentMs)) && !(await isAlive(Number(writer)))
    if (isOver) await rm(path, { force: true })
  }
}

/** The process of this machine that wants the lock; undefined: one of another machine, or nobody knows. */
async function takerOf(path: string): Promise<number | undefined> {
  try {
    const { pid, host } = JSON.parse(await readFile(path, 'utf8')) as { pid: number; host: string }
    return host === hostname() ? pid : undefined
  } catch {
    return undefined
  }
}

async function isOld(path: string, ms: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && Date.now() - found.mtimeMs >= ms
}
