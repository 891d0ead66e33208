import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { reading } from '../../base/file/system-error.js'
import { baseOfFile, baseOfSetup } from './database/base.js'
import type { Base } from './database/protocol.js'
import { databasesOf } from './dump.js'

/** How InterCode and its package call the dump with all databases. */
export const DUMPS: readonly string[] = ['ic_spider_dbs.sql', 'spider_dev.sql']
/** Where Spider keeps a database, and how else it may be called. */
const placesOf = (db: string) => [
  join(db, `${db}.sqlite`),
  `${db}.sqlite`,
  `${db}.db`,
  join(db, 'schema.sql'),
  `${db}.sql`,
]

/** Dumps that were read, by path and version. */
const dumps = new Map<string, Promise<Map<string, string>>>()

/** Where databases are when nobody says it: beside the file of tasks. */
export function usualPlace(tasks: string): string {
  const dump = DUMPS.map((name) => join(dirname(tasks), name)).find((file) => existsSync(file))
  const folder = join(dirname(tasks), 'database')
  return dump !== undefined && !existsSync(folder) ? dump : folder
}

/** The database of a name, in a folder of databases or in a dump of MySQL. */
export async function databaseIn(place: string | undefined, db: string): Promise<Base> {
  if (place !== undefined && existsSync(place) && (await stat(place)).isFile()) {
    const setup = (await readDump(place)).get(db)
    if (setup !== undefined) return baseOfSetup(db, setup)
    throw new TrinityError('environment/data', `${place} holds no database '${db}'`, {
      path: place,
      hint: 'expected a dump of all databases, as mysqldump --all-databases writes it',
    })
  }
  const file =
    place &&
    placesOf(db)
      .map((one) => join(place, one))
      .find((one) => existsSync(one))
  if (file)
    return file.endsWith('.sql') ? baseOfSetup(db, await reading(readFile(file, 'utf8'), file)) : baseOfFile(db, file)
  const [spider, , , , own] = placesOf(db)
  throw new TrinityError('environment/data', `there is no database '${db}'`, {
    path: place ?? 'environment_args.databases',
    hint: `name with 'databases' a folder with ${spider} (as Spider has it) or ${own}, or InterCode's ${DUMPS[0]}; or give the row a column 'setup' with SQL`,
  })
}

/** The databases of a dump, as SQL of SQLite. */
export async function readDump(file: string): Promise<Map<string, string>> {
  const { size, mtimeMs } = await reading(stat(file), file)
  const key = `${file} ${size} ${mtimeMs}`
  let dump = dumps.get(key)
  if (!dump) {
    dump = reading(readFile(file, 'utf8'), file).then(databasesOf)
    dumps.set(key, dump)
    dump.catch(() => dumps.delete(key))
  }
  return dump
}
