import { lstat, readdir, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { readMark } from '../checkpoint/job-mark.js'
import { MARKS } from '../checkpoint/layout.js'
import { JobLock, lockedRole, lockName } from '../checkpoint/lock.js'
import type { Resolved } from '../config/index.js'
import { jobName } from './job-name.js'
import { isProgress } from './known-files.js'
import { type Leftovers, leftovers } from './leftovers.js'

/** Deletes what a job has written, and nothing else. Refused while a process is at work in it. */
export async function startOver(resolved: Resolved): Promise<Leftovers> {
  // a first look, so that no lock is put into a folder that is not ours
  await leftovers(resolved)
  const locks = await takeLocks(resolved)
  let found: Leftovers
  try {
    found = await leftovers(resolved)
    const held = new Set(locks.map(({ path }) => path))
    for (const path of inOrder(found.ours, resolved)) if (!held.has(path)) await remove(path)
  } finally {
    for (const { lock } of locks) await lock.release()
  }
  for (const dir of found.folders) await removeEmpty(dir)
  return found
}

async function takeLocks({ stages }: Resolved): Promise<{ lock: JobLock; path: string }[]> {
  const locks: { lock: JobLock; path: string }[] = []
  try {
    for (const { config } of stages) {
      const dir = config.checkpoint_job_dir
      if ((await readMark(dir))?.job !== jobName(config)) continue
      const others = (await readdir(dir)).flatMap((name) => lockedRole(name) ?? [])
      for (const role of new Set(['trainer', config.explorer.name, ...others])) {
        locks.push({ lock: await JobLock.take(dir, role), path: join(dir, lockName(role)) })
      }
    }
  } catch (error) {
    for (const { lock } of locks) await lock.release()
    throw error
  }
  return locks
}

/**
 * First what says that the run has finished or how far it is: a deletion that is interrupted is then no finished run. Last
 * what says whose the folder is, so that the rest can still be deleted.
 */
function inOrder(paths: readonly string[], { stages }: Resolved): string[] {
  const markDirs = new Set(stages.map(({ config }) => join(config.checkpoint_job_dir, MARKS)))
  const rank = (path: string) => (markDirs.has(dirname(path)) ? 2 : isProgress(basename(path)) ? 0 : 1)
  return [...paths].sort((a, b) => rank(a) - rank(b))
}

/** One file or link, never a folder. SQLite may have taken a journal away itself. */
async function remove(path: string): Promise<void> {
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

/** `rmdir` takes empty folders only, and no links. */
async function removeEmpty(dir: string): Promise<void> {
  if (!(await lstat(dir).catch(() => undefined))?.isDirectory()) return
  await rmdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'EBUSY'].includes(error.code ?? '')) throw error
  })
}
