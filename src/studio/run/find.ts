import { createHash } from 'node:crypto'
import type { Dirent } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../base/error.js'
import { isDamagedName, isStepName, JOB, MARKS, metaName } from '../../checkpoint/layout.js'
import type { Folder } from '../api.js'

/** A job directory below one of the folders. */
export interface FoundRun {
  readonly id: string
  /** Without links. */
  readonly path: string
  /** The folder it was found below, without links. */
  readonly root: string
}

/** Folders of a job, and others that hold no runs and may be large. */
const OWN = new Set(['log', 'monitor', 'buffer', 'bench', 'node_modules'])
const DEPTH = 8
/** Folders that are looked into before the search gives up: somebody may have asked for `/`. */
const MOST = 20_000

/** Every job below the folders. Links are not followed: what they lead to is not below the folders. */
export async function findRuns(folders: readonly string[]): Promise<{ folders: Folder[]; runs: FoundRun[] }> {
  const runs = new Map<string, FoundRun>()
  const told: Folder[] = []
  for (const path of folders) {
    try {
      const root = await realpath(path)
      const search = { root, left: MOST, runs }
      await look(root, await readdir(root, { withFileTypes: true }), 0, search)
      const problem = search.left <= 0 ? `only the first ${MOST} folders below it were searched` : undefined
      told.push({ path, problem })
    } catch (error) {
      told.push({ path, problem: messageOf(error) })
    }
  }
  return { folders: told, runs: [...runs.values()] }
}

/** The same in every session: links to a run stay good. */
export function runId(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 16)
}

interface Search {
  readonly root: string
  left: number
  readonly runs: Map<string, FoundRun>
}

async function look(path: string, entries: readonly Dirent[], depth: number, search: Search): Promise<void> {
  if (isJob(entries)) {
    const id = runId(path)
    search.runs.set(id, { id, path, root: search.root })
  }
  if (depth >= DEPTH) return
  const inside = entries.filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && !OWN.has(entry.name) && !isStep(entry.name),
  )
  await Promise.all(
    inside.map(async ({ name }) => {
      if (search.left-- <= 0) return
      const next = join(path, name)
      // what may not be read holds no runs that could be shown
      const found = await readdir(next, { withFileTypes: true }).catch(() => undefined)
      if (found) await look(next, found, depth + 1, search)
    }),
  )
}

function isStep(name: string): boolean {
  return isStepName(name) || isDamagedName(name)
}

/** The mark of a job, or what runs of releases before it have left. */
export function isJob(entries: readonly Dirent[]): boolean {
  const names = new Map(entries.map((entry) => [entry.name, entry]))
  if (names.get(MARKS)?.isDirectory()) return true
  const meta = ['run', 'trainer', 'explorer'].some((role) => names.get(metaName(role))?.isFile())
  return meta || (names.get(JOB)?.isFile() === true && names.get('log')?.isDirectory() === true)
}
