import { createRequire } from 'node:module'
import type Libsql from 'libsql'
import { messageOf, TrinityError } from '../error.js'
import { type NodeSqlite, nodeSqlite } from './node-sqlite.js'

let loaded: typeof Libsql | undefined

/**
 * The constructor of SQLite databases: libsql, or where it has no binary for the platform, what Node itself has.
 *
 * ```ts
 * import { libsql } from './libsql.js'
 *
 * const db = new (libsql())('file.db')
 * ```
 */
export function libsql(): typeof Libsql {
  loaded ??= loadDriver(createRequire(import.meta.url))
  return loaded
}

/** The same by a way of loading modules, every time anew. */
export function loadDriver(load: (name: string) => unknown): typeof Libsql {
  try {
    return load('libsql') as typeof Libsql
  } catch (cause) {
    try {
      return nodeSqlite(load('node:sqlite') as NodeSqlite) as unknown as typeof Libsql
    } catch {
      throw new TrinityError('sqlite/missing', `SQLite cannot be loaded here: ${messageOf(cause).split('\n')[0]}`, {
        hint: 'install trinity-rft with its optional packages; where libsql has none for the platform, use Node 22.13 or newer',
        cause,
      })
    }
  }
}
