import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, TrinityError } from '../error.js'

const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 250

/**
 * Does something to a SQLite file, again and again while another process keeps it locked. The time-out of SQLite itself
 * does not cover everything: the switch to the write-ahead log fails at once.
 */
export async function whileBusy<T>(file: string, limitMs: number, work: () => T): Promise<T> {
  const begun = performance.now()
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    try {
      return work()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() - begun >= limitMs) throw tooLong(file, limitMs, error)
    }
    // Two that wait for each other must not come back at the same moments.
    await sleep(pause * (0.5 + Math.random()))
  }
}

function isBusy(error: unknown): boolean {
  return /busy|locked/i.test(`${(error as { code?: string }).code} ${messageOf(error)}`)
}

function tooLong(file: string, limitMs: number, cause: unknown): TrinityError {
  return new TrinityError('database/busy', `another process has kept ${file} locked for ${limitMs / 1000} s`, {
    path: file,
    hint: 'end the process that has the file open (fuser or lsof name it); network file systems may keep locks of dead ones',
    cause,
  })
}
