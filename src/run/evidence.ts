import { lstat, open } from 'node:fs/promises'
import type Libsql from 'libsql'
import { libsql } from '../base/database/libsql.js'
import { checkSchema, prepareRead } from '../base/database/read-rows.js'
import { fromJsonLine } from '../experience/jsonl.js'
import { isInside, realFolder } from './real-folder.js'

/** Whose a file of experiences is, and how one knows. */
export type Evidence = { readonly ours: true } | { readonly ours: false; readonly why: string }

const NO_MARK = 'nothing in it says that this job created it'
const HEADER = 'SQLite format 3\0'

/** A job by its name and its folder, without links in it. */
export interface Owner {
  readonly job: string
  readonly folder: string
}

/** `marked`: this job has made a file of this name. Looks only, and never through a link. */
export async function evidenceOf(file: string, owners: readonly Owner[], marked: boolean): Promise<Evidence> {
  const info = await lstat(file)
  if (info.isSymbolicLink()) return { ours: false, why: 'it is a link' }
  if (info.isDirectory()) return { ours: false, why: 'it is a folder' }
  if (!info.isFile()) return { ours: false, why: 'it is not a regular file' }
  if (info.size === 0) return marked ? { ours: true } : { ours: false, why: NO_MARK }
  const begin = await beginning(file)
  if (begin.startsWith(HEADER)) return ofDatabase(await realFolder(file), owners, marked)
  if (!marked) return { ours: false, why: NO_MARK }
  return isExperience(begin) ? { ours: true } : { ours: false, why: 'it does not hold experiences' }
}

/** By its first bytes; an empty file is one that nothing was written to yet. */
export async function isDatabase(file: string): Promise<boolean> {
  const begin = await beginning(file)
  return begin === '' || begin.startsWith(HEADER)
}

function ofDatabase(file: string, owners: readonly Owner[], marked: boolean): Evidence {
  let db: Libsql.Database | undefined
  try {
    db = new (libsql())(file)
    checkSchema(db, file)
    const tables = prepareRead(
      db,
      "SELECT name FROM sqlite_master WHERE type = 'table'",
      file,
    )([]).map(({ name }) => String(name))
    const foreign = foreignTables(tables)
    if (foreign.length > 0) return { ours: false, why: `it has other tables: ${foreign.join(', ')}` }
    const jobs = tables.includes('trinity_job') ? prepareRead(db, 'SELECT * FROM trinity_job', file)([]) : []
    const { name, folder } = (jobs[0] ?? {}) as { name?: unknown; folder?: unknown }
    if (name === undefined) return marked ? { ours: true } : { ours: false, why: NO_MARK }
    const same = owners.filter(({ job }) => job === name)
    if (same.length === 0) return { ours: false, why: `it belongs to job '${name}'` }
    // earlier releases wrote down the name alone; a database in the folder of the job has moved along with it
    const home = typeof folder === 'string' ? folder : undefined
    const ours = home === undefined || same.some((one) => one.folder === home || isInside(file, one.folder))
    return ours ? { ours: true } : { ours: false, why: `it belongs to job '${name}' in ${home}` }
  } catch (error) {
    return marked ? { ours: true } : { ours: false, why: `it cannot be read: ${(error as Error).message}` }
  } finally {
    db?.close()
  }
}

/** Ours come in pairs, `<name>` and `<name>_blob`. */
function foreignTables(tables: readonly string[]): string[] {
  const pairs = tables.filter((name) => tables.includes(`${name}_blob`)).flatMap((name) => [name, `${name}_blob`])
  const ours = new Set(['trinity_job', 'trinity_producers', 'trinity_takes', ...pairs])
  return tables.filter((name) => !ours.has(name) && !/^(sqlite|libsql)_/.test(name))
}

/** The first line as far as it is needed: all of it where it is short. */
function isExperience(begin: string): boolean {
  const end = begin.indexOf('\n')
  if (end < 0) return /^\{"v":\d+,/.test(begin)
  try {
    fromJsonLine(begin.slice(0, end))
    return true
  } catch {
    return false
  }
}

export async function beginning(file: string, length = 1 << 16): Promise<string> {
  const handle = await open(file, 'r')
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}
