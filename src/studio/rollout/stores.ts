import { readdir } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { messageOf, TrinityError } from '../../base/error.js'
import { markedFiles, readMark } from '../../checkpoint/job-mark.js'
import type { Store } from '../api.js'
import type { FoundRun } from '../run/find.js'
import { inside } from '../run/inside.js'
import { readPart, withFile } from '../run/lines.js'
import { IndexColumns } from './index-columns.js'
import { JsonlSource } from './jsonl-source.js'
import type { Source } from './source.js'
import { experienceTables, openToRead, SqlSource } from './sql-source.js'

/** A store that somebody looks at. */
export interface OpenStore {
  readonly source: Source
  readonly columns: IndexColumns
}

/** Stores that are kept open. */
const MOST = 8

/** The tables and files of experiences of runs. */
export class Stores {
  readonly #open = new Map<string, Promise<OpenStore>>()

  /** Those in the run's own folder come first, and among them what the explorer made. */
  async list(run: FoundRun): Promise<Store[]> {
    const found = await Promise.all((await filesOf(run)).map((path) => storesIn(run, path)))
    const rank = ({ id, holds }: Store) => ['raw', 'buffer', 'other'].indexOf(holds) + (isElsewhere(id) ? 3 : 0)
    return found.flat().sort((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1))
  }

  /** With its index as new as its file. */
  async get(run: FoundRun, id: string): Promise<OpenStore> {
    const name = `${run.id} ${id}`
    const known = this.#open.get(name) ?? this.#openStore(run, id)
    this.#open.delete(name)
    this.#open.set(name, known)
    const store = await known.catch((error: unknown) => {
      this.#open.delete(name)
      throw error
    })
    await store.columns.update(store.source)
    await this.#forget()
    return store
  }

  async close(): Promise<void> {
    const all = [...this.#open.values()]
    this.#open.clear()
    await Promise.all(all.map(async (one) => (await one.catch(() => undefined))?.source.close()))
  }

  async #openStore(run: FoundRun, id: string): Promise<OpenStore> {
    const store = (await this.list(run)).find((one) => one.id === id)
    if (!store) throw new TrinityError('studio/no-store', `the run has no experiences '${id}'`, { path: id })
    if (store.problem !== undefined) throw new TrinityError('studio/store', store.problem, { path: store.path })
    const table = id.slice(id.lastIndexOf('#') + 1)
    const source =
      store.kind === 'jsonl' ? await JsonlSource.open(store.path) : new SqlSource(openToRead(store.path), table)
    return { source, columns: new IndexColumns() }
  }

  async #forget(): Promise<void> {
    for (const [name, store] of this.#open) {
      if (this.#open.size <= MOST) return
      this.#open.delete(name)
      await (await store.catch(() => undefined))?.source.close()
    }
  }
}

/** Files of the run that may hold experiences, below the folder that Studio was given. */
async function filesOf({ path, root }: FoundRun): Promise<string[]> {
  const job = (await readMark(path))?.job
  const folders = [path, join(path, 'buffer')]
  const names = await Promise.all(
    folders.map(async (dir) => (await readdir(dir).catch(() => [])).map((name) => join(dir, name))),
  )
  const marked = job === undefined ? [] : await markedFiles(path, job)
  const files = [...names.flat(), ...marked].filter((file) => /\.(db|sqlite3?|jsonl)$/.test(file))
  const real = await Promise.all(files.map((file) => inside(root, file).catch(() => [])))
  return [...new Set(real.flat())]
}

const isElsewhere = (id: string) => id.startsWith('..')

async function storesIn(run: FoundRun, path: string): Promise<Store[]> {
  const id = relative(run.path, path)
  // what lies elsewhere may be another run's: a copied folder still names the files of the one that it was copied from
  const name = isElsewhere(id) ? id : basename(path)
  if (path.endsWith('.jsonl')) {
    const head = await withFile(path, (file) => readPart(file, 0, 4096))
    if (!head?.includes('"eid":')) return []
    const holds = basename(path).startsWith('explorer_output') ? 'raw' : 'buffer'
    return [{ id, name, kind: 'jsonl', holds, path }]
  }
  const about = { kind: 'sqlite', path } as const
  try {
    const db = openToRead(path)
    try {
      const tables = await experienceTables(db)
      return await Promise.all(
        tables.map(async (table): Promise<Store> => {
          const [row] = await db.query(`SELECT max(id) AS n FROM "${table.replaceAll('"', '""')}"`)
          const holds = table === 'pipeline_input' || basename(path).startsWith('explorer_output') ? 'raw' : 'buffer'
          return { ...about, id: `${id}#${table}`, name: `${table} of ${name}`, holds, count: Number(row.n ?? 0) }
        }),
      )
    } finally {
      await db.close()
    }
  } catch (error) {
    return [{ ...about, id, name, holds: 'other', problem: messageOf(error) }]
  }
}
