import { createHash, randomBytes } from 'node:crypto'
import { link, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { hostname, uptime } from 'node:os'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { isJsonObject } from '../base/file/json-file.js'
import { inWords, unreadable } from '../base/file/system-error.js'
import { jsonIn } from '../base/json-text.js'
import { removeLitter } from './litter.js'

interface Holder {
  token: string
  pid: number
  host: string
  /** When the process started, as the system counts it; tells a new process with an old number apart. */
  born: string
}

/** A lock file as it was found. */
interface Found {
  /** Undefined if the file holds no lock: a machine that lost power may leave it empty or cut off. */
  readonly holder: Holder | undefined
  /** Name of this state of the file: the token of its holder, or made from the file itself. */
  readonly token: string
  readonly mtimeMs: number
}

const BEAT_MS = 5_000
/** Age after which a lock is stale if its holder is on another machine or it cannot be read, in ms. */
const SILENT_MS = 60_000

export const lockName = (role: string): string => `.lock-${role}`

/** The role whose lock a file is, or was on its way to be; undefined: it is no lock. */
export function lockedRole(name: string): string | undefined {
  return /^\.lock-(.+?)(\.(takes-)?[0-9a-f]{16}(\.copy)?)?$/.exec(name)?.[1]
}

/** Keeps two processes from playing the same role in one job. A lock whose process was killed is taken over. */
export class JobLock {
  readonly #path: string
  readonly #token: string
  readonly #beat: NodeJS.Timeout

  private constructor(path: string, token: string) {
    this.#path = path
    this.#token = token
    this.#beat = setInterval(() => {
      const now = new Date()
      utimes(path, now, now).catch(() => undefined)
    }, BEAT_MS)
    this.#beat.unref()
  }

  static async take(dir: string, role: string, silentMs = SILENT_MS): Promise<JobLock> {
    const path = join(dir, lockName(role))
    const token = randomBytes(8).toString('hex')
    const own = `${path}.${token}`
    const holder: Holder = { token, pid: process.pid, host: hostname(), born: (await birth(process.pid)) ?? '' }
    try {
      // On the disk before it gets its name: otherwise a power cut leaves an empty lock.
      await inWords(writeFile(own, JSON.stringify(holder), { flag: 'wx', flush: true }), path)
      for (let tries = 0; tries < 100; tries++) {
        if (await inWords(linked(own, path), path)) return new JobLock(path, token)
        const found = await look(path)
        if (found?.holder && (await alive(found.holder, path, timeOf(own), silentMs))) {
          throw inUse(dir, role, found.holder)
        }
        if (found && !found.holder && !(await isAbandoned(found, own, silentMs))) throw notReadable(path, silentMs)
        if (found && (await replace(own, path, found.token, silentMs))) return new JobLock(path, token)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      throw new TrinityError('checkpoint/lock', `could not take the lock ${path}`, {
        path,
        hint: `run the same command again; if nothing works on this job, delete ${path}`,
      })
    } finally {
      await rm(own, { force: true }).catch(() => {})
      await removeLitter(dir, async (pid) => (await birth(pid)) !== undefined, silentMs)
    }
  }

  async release(): Promise<void> {
    clearInterval(this.#beat)
    const found = await look(this.#path).catch(() => undefined)
    if (found?.token === this.#token) await rm(this.#path, { force: true })
  }
}

/** Who plays a role in a job now. */
export interface LockHolder {
  readonly role: string
  readonly pid: number
  readonly host: string
}

/** Those whose processes are alive. Looks only: a lock that a killed process left stays. */
export async function lockHolders(dir: string, silentMs = SILENT_MS): Promise<LockHolder[]> {
  const names = (await readdir(dir)).filter((name) => name === lockName(lockedRole(name) ?? ''))
  const found = await Promise.all(
    names.map(async (name): Promise<LockHolder[]> => {
      const path = join(dir, name)
      const holder = (await look(path).catch(() => undefined))?.holder
      if (!holder || !(await alive(holder, path, async () => Date.now(), silentMs))) return []
      return [{ role: lockedRole(name) as string, pid: holder.pid, host: holder.host }]
    }),
  )
  return found.flat()
}

/** Only one process ever gets the name made of the dead lock's token; it alone may put its own lock in its place. */
async function replace(own: string, path: string, token: string, silentMs: number): Promise<boolean> {
  const claim = `${path}.takes-${token}`
  if (!(await linked(own, claim))) {
    const claimant = await look(claim)
    const isDead = claimant?.holder
      ? !(await alive(claimant.holder, claim, timeOf(own), silentMs))
      : claimant !== undefined && (await isAbandoned(claimant, own, silentMs))
    if (isDead) await rm(claim, { force: true })
    return false
  }
  try {
    if ((await look(path))?.token !== token) return false
    const copy = `${own}.copy`
    await link(own, copy)
    await rename(copy, path)
    return true
  } finally {
    await rm(claim, { force: true })
  }
}

async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Returns undefined if there is no such file. Throws if the file cannot be read: its holder may be alive. */
async function look(path: string): Promise<Found | undefined> {
  try {
    const { ino, size, mtimeMs } = await stat(path)
    const holder = holderIn(await readFile(path, 'utf8'))
    const state = createHash('sha256').update(`${ino} ${size} ${mtimeMs}`).digest('hex').slice(0, 16)
    return { holder, token: holder?.token ?? state, mtimeMs }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(path, error)
  }
}

function holderIn(text: string): Holder | undefined {
  const value = jsonIn(text)
  if (!isJsonObject(value)) return undefined
  const { token, pid, host, born } = value
  const isWhole =
    // the token becomes part of a file name, and a pid below 1 names groups of processes
    typeof token === 'string' && /^[\w-]{1,64}$/.test(token) && Number.isSafeInteger(pid) && Number(pid) > 0
  if (!isWhole || typeof host !== 'string' || typeof born !== 'string') return undefined
  return { token, pid: Number(pid), host, born }
}

/** A live holder touches its lock every few seconds, so one that is older than that or than this boot has none. */
async function isAbandoned({ mtimeMs }: Found, own: string, silentMs: number): Promise<boolean> {
  const booted = Date.now() - uptime() * 1000
  return mtimeMs < booted || (await timeOf(own)()) - mtimeMs >= silentMs
}

/** What the clock of the file system said when a file of ours was written: clocks of two machines may differ. */
function timeOf(own: string): () => Promise<number> {
  return async () => (await stat(own)).ctimeMs
}

async function alive(holder: Holder, path: string, now: () => Promise<number>, silentMs: number): Promise<boolean> {
  if (holder.host === hostname()) {
    const born = await birth(holder.pid)
    return born !== undefined && (holder.born === '' || born === '' || born === holder.born)
  }
  const theirs = await stat(path).catch(() => undefined)
  return theirs !== undefined && (await now()) - theirs.ctimeMs < silentMs
}

/** Undefined: there is no such process. Empty: there is one, and the system does not say since when. */
async function birth(pid: number): Promise<string | undefined> {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return undefined
  }
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The name in parentheses may hold anything; the state is the first field behind it, the start time the 20th.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  // Killed, and its parent has not asked how it ended: in containers without an init nobody ever does.
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined
  return fields[19] ?? ''
}

function notReadable(path: string, silentMs: number): TrinityError {
  const seconds = Math.ceil(silentMs / 1000)
  return new TrinityError('checkpoint/lock', `lock file is damaged: ${path}`, {
    path,
    hint: `run the same command in ${seconds} s, when the lock counts as abandoned; if nothing works on this job, delete ${path}`,
  })
}

function inUse(dir: string, role: string, { pid, host }: Holder): TrinityError {
  const where = host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`
  return new TrinityError('checkpoint/in-use', `${where} is already the ${role} of this job`, {
    path: dir,
    hint: 'wait until it ends, stop it, or give this run another name',
  })
}
