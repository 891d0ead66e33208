import type { Dirent } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { finalName } from '../base/file/atomic-file.js'
import { filesBelow } from '../checkpoint/durable.js'
import { isMark, type JobMark } from '../checkpoint/job-mark.js'
import {
  BENCH,
  BENCH_RESULTS,
  BEST_EVAL,
  isDamagedName,
  isHalfDone,
  isStepName,
  MANIFEST,
  MARKS,
  nameBeforeDamage,
  WRITTEN,
} from '../checkpoint/layout.js'
import { isForeign, listedIn } from '../checkpoint/owned.js'
import type { Config } from '../config/index.js'
import type { Evidence } from './evidence.js'
import { isEventFile, isJobFile, isLog, isMonitorFile, rolesIn } from './known-files.js'

export interface Inventory {
  /** Files that the job has written, in the order in which they may go. */
  readonly ours: string[]
  /** Folders that the job has made: they go where nothing is left in them. */
  readonly folders: string[]
  /** Somebody else's: it stays. */
  readonly kept: string[]
  /** In the place of something that a run reads, but not provably ours: nothing may be deleted. */
  readonly blocked: { readonly path: string; readonly why: string }[]
}

export interface InventoryNeeds {
  readonly config: Config
  readonly mark: JobMark
  /** Says of a file in the folder of the buffers whose it is. */
  evidence(file: string): Promise<Evidence>
}

/** Goes through a job directory by its layout. Links are never followed. */
export async function takeInventory({ config, mark, evidence }: InventoryNeeds): Promise<Inventory> {
  const dir = config.checkpoint_job_dir
  const list: Inventory = { ours: [], folders: [], kept: [], blocked: [] }
  const entries = await entriesIn(dir)
  const names = entries.map(({ name }) => name)
  const roles = rolesIn(names, [config.explorer.name, config.trainer.name])
  const marks: string[] = []
  const buffers = basename(config.buffer.cache_dir ?? 'buffer')
  const sorted: Record<string, (path: string, entry: Dirent) => Promise<boolean>> = {
    [basename(config.log.save_dir ?? 'log')]: (path) => isLog(path),
    [basename(config.monitor.cache_dir)]: async (path, { name }) => isEventFile(name) || isMonitorFile(path, roles),
    [buffers]: async (path) => (await evidence(withoutJournal(path))).ours,
    [BENCH]: async (_, { name }) => [BEST_EVAL, BENCH_RESULTS].includes(nameBeforeDamage(finalName(name))),
  }
  for (const entry of entries) {
    const path = join(dir, entry.name)
    const block = (why: string) => list.blocked.push({ path, why })
    if (entry.name === MARKS) {
      await sortFolder(path, async (_, { name }) => isMark(finalName(name)), { ...list, ours: marks })
    } else if (Object.hasOwn(sorted, entry.name)) {
      if (!entry.isDirectory()) block(entry.isSymbolicLink() ? 'it is a link' : 'it is not a folder')
      else if ((await entriesIn(path)).some(({ name }) => name === MARKS)) block('it is the folder of another job')
      else {
        const ours: string[] = []
        await sortFolder(path, sorted[entry.name], { ...list, ours })
        list.ours.push(...(entry.name === buffers ? await besideJournals(ours) : ours))
      }
    } else if (isStepName(entry.name)) {
      if (!entry.isDirectory()) block(entry.isSymbolicLink() ? 'it is a link' : 'it is not a folder')
      else if (mark.found.includes(entry.name)) block('it was there before the first run of this job')
      else if (await isForeign(dir, entry.name)) block('it is the folder of another job')
      else await sortStep(path, list)
    } else if (isDamagedName(entry.name) && !(await isForeign(dir, entry.name))) {
      await sortDamaged(path, list)
    } else if (isJobFile(entry.name, roles)) {
      if (!entry.isFile()) block(entry.isSymbolicLink() ? 'it is a link' : 'it is not a regular file')
      else if (mark.found.includes(entry.name)) block('it was there before the first run of this job')
      else list.ours.push(path)
    } else list.kept.push(path)
  }
  // Last, so that what is left of an interrupted deletion is still known to be ours.
  list.ours.push(...marks)
  list.folders.push(dir)
  return list
}

async function sortFolder(
  dir: string,
  isOurs: (path: string, entry: Dirent) => Promise<boolean>,
  list: Inventory,
  top = true,
): Promise<void> {
  const before = list.ours.length
  for (const entry of await entriesIn(dir)) {
    const path = join(dir, entry.name)
    if (entry.isDirectory()) await sortFolder(path, isOurs, list, false)
    else if (entry.isFile() && (await isOurs(path, entry))) list.ours.push(path)
    else list.kept.push(path)
  }
  if (top || list.ours.length > before) list.folders.push(dir)
}

/** A checkpoint lists its own files. Another's file in it would be lost in the next run, which makes the step again. */
async function sortStep(dir: string, list: Inventory): Promise<void> {
  const files = await filesBelow(dir)
  const listed = isHalfDone(basename(dir)) ? undefined : await listedIn(dir)
  if (!listed && !isHalfDone(basename(dir)) && files.length > 0) {
    list.blocked.push({ path: dir, why: 'it does not say which files were written into it' })
    return
  }
  const last: string[] = []
  for (const name of files) {
    const path = join(dir, name)
    if (name === MANIFEST || name === WRITTEN) last.push(path)
    else if (listed ? listed.has(name) : (await lstat(path)).isFile()) list.ours.push(path)
    else list.blocked.push({ path, why: 'it is not from this job, and a checkpoint of the next run takes its place' })
  }
  list.ours.push(...last)
  list.folders.push(...(await foldersBelow(dir)), dir)
}

/** A damaged checkpoint that was kept: nothing takes its place, so what is not listed may stay. */
async function sortDamaged(dir: string, list: Inventory): Promise<void> {
  const listed = (await listedIn(dir)) ?? new Set()
  const last: string[] = []
  for (const name of await filesBelow(dir)) {
    const path = join(dir, name)
    if (listed.has(name)) list.ours.push(path)
    else if (listed.size > 0 && (name === MANIFEST || name === WRITTEN)) last.push(path)
    else list.kept.push(path)
  }
  list.ours.push(...last)
  list.folders.push(...(await foldersBelow(dir)), dir)
}

async function foldersBelow(dir: string): Promise<string[]> {
  const folders = (await entriesIn(dir)).filter((entry) => entry.isDirectory()).map(({ name }) => join(dir, name))
  return (await Promise.all(folders.map(async (one) => [...(await foldersBelow(one)), one]))).flat()
}

async function entriesIn(dir: string): Promise<Dirent[]> {
  const entries = await readdir(dir, { withFileTypes: true })
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** What SQLite keeps beside a database goes the way of the database. */
export function withJournals(file: string): string[] {
  return [`${file}-wal`, `${file}-shm`, `${file}-journal`, file]
}

export async function plainFiles(paths: readonly string[]): Promise<string[]> {
  const plain = await Promise.all(paths.map(isPlainFile))
  return paths.filter((_, i) => plain[i])
}

export async function isPlainFile(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isFile() ?? false
}

/** Looked for again: asking a database whose it is makes journals, which the driver takes away when it likes. */
async function besideJournals(files: readonly string[]): Promise<string[]> {
  return plainFiles(files.filter((path) => withoutJournal(path) === path).flatMap(withJournals))
}

function withoutJournal(path: string): string {
  return path.replace(/-(wal|shm|journal)$/, '')
}
