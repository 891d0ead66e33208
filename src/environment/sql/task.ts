import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { reading } from '../../base/file/system-error.js'
import { parseJsonText } from '../../base/json-text.js'
import type { EpisodeSpec } from '../environment.js'
import { readRow, rowError } from '../row.js'
import { baseOfSetup } from './database/base.js'
import { SqlDatabase } from './database/database.js'
import type { Base } from './database/protocol.js'
import { databaseIn, usualPlace } from './databases.js'

const NAME = 'intercode_sql'

/** A question about a database, and a query that answers it. */
export interface SqlTask {
  readonly query: string
  readonly gold: string
  readonly base: Base
}

export interface TaskPlaces {
  /** The file of tasks. */
  readonly data_path?: string
  /** A folder, or a dump. */
  readonly databases?: string
}

const text = z.string().min(1)
const columns = z.object({
  query: text.optional(),
  gold: text.optional(),
  db: text.optional(),
  setup: text.optional(),
  data_path: text.optional(),
  extra: z.unknown().optional(),
})
export type TaskColumns = z.output<typeof columns>

/** Files of tasks that were read, by path: every run of every task looks into the same. */
const files = new Map<string, Promise<TaskColumns[]>>()

/** The task that a row holds, or whose number in the file of tasks it gives. */
export async function taskOf(episode: EpisodeSpec, places: TaskPlaces): Promise<SqlTask> {
  const row = readRow(NAME, columns, episode.row)
  const path = expanded(row.data_path ?? places.data_path)
  const task = row.query !== undefined && row.gold !== undefined ? row : await listed(episode, path)
  const { query, gold, setup } = task
  if (query === undefined || gold === undefined) {
    throw rowError(NAME, query === undefined ? 'query' : 'gold', 'expected a question and its query', null)
  }
  const db = databaseName(task)
  const place = expanded(places.databases) ?? (path === undefined ? undefined : usualPlace(path))
  return { query, gold, base: setup === undefined ? await databaseIn(place, db) : baseOfSetup(db, setup) }
}

/** What is wrong with the query of a task; undefined: it runs. */
export async function goldProblem(base: Base, gold: string): Promise<string | undefined> {
  const result = await new SqlDatabase(base).run(gold)
  return 'error' in result ? result.error : undefined
}

async function listed({ row, text: told }: EpisodeSpec, path: string | undefined): Promise<TaskColumns> {
  if (path === undefined) {
    throw new TrinityError('environment/data', `${NAME} does not know where its tasks are`, {
      path: 'environment_args.data_path',
      hint: "name InterCode's file of tasks with data_path, or give rows the columns query, gold and db; trinity data intercode_sql makes such rows",
    })
  }
  const loading = files.get(path) ?? readTasks(path)
  files.set(path, loading)
  const tasks = await loading.catch((error: unknown) => {
    files.delete(path)
    throw error
  })
  const given = row.query_idx ?? told ?? 0
  const task = /^\s*\d{1,9}\s*$/.test(String(given)) ? tasks[Number(given)] : undefined
  if (task === undefined) throw rowError(NAME, 'query_idx', `expected a number from 0 to ${tasks.length - 1}`, given)
  return task
}

/** A list in JSON, or an object in each line. */
export async function readTasks(path: string): Promise<TaskColumns[]> {
  const content = await reading(readFile(path, 'utf8'), path)
  try {
    const list: unknown = content.trimStart().startsWith('[')
      ? parseJsonText(content)
      : content.split('\n').flatMap((line) => (line.trim() === '' ? [] : [parseJsonText(line)]))
    return z.array(columns.loose()).min(1).parse(list)
  } catch (cause) {
    throw new TrinityError('environment/data', `${path} is no file of SQL tasks`, {
      path,
      hint: 'expected JSON: [{"db": …, "query": …, "gold": …}, …], or such an object in each line',
      cause,
    })
  }
}

/** InterCode keeps it in `db`, or in `extra`. */
export function databaseName({ db, extra }: TaskColumns): string {
  const other = (extra as { db?: unknown } | null | undefined)?.db
  const name = db ?? (typeof other === 'string' ? other : 'main')
  if (/^[\w-][\w.-]{0,99}$/.test(name)) return name
  throw rowError(NAME, 'db', 'expected the name of a database', name)
}

function expanded(path: string | undefined): string | undefined {
  return path?.replace(/^~(?=\/|$)/, homedir())
}
