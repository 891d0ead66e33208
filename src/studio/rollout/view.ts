import { isDatabaseUrl, sqlitePath } from '../../base/database/names.js'
import { messageOf, TrinityError } from '../../base/error.js'
import { withoutPassword } from '../../base/secret/index.js'
import type { Store } from '../api.js'
import { IndexColumns } from './index-columns.js'
import { JsonlSource } from './jsonl-source.js'
import type { Shelf } from './shelf.js'
import type { Source } from './source.js'
import { type Asked, experienceTables, openByUrl, openToRead, SQLITE_TABLES, SqlSource } from './sql-source.js'
import { loadTexts } from './token-text.js'
import { needExperiences, needFile } from './view-file.js'

/** The one run that `trinity view` shows. */
export const VIEW = 'view'

export interface ViewOptions {
  /** `sqlite:///file.db`, `postgresql://…`, or the path of a `.db` or `.jsonl` file. */
  readonly url: string
  /** Default: the only one that there is. */
  readonly table?: string
  /** Model directory. */
  readonly tokenizer?: string
  /** What the page begins with. */
  readonly schema?: 'experience' | 'sft'
}

/** One table or file of experiences that a person has named, wherever it is. */
export class View implements Shelf {
  readonly store: Store
  readonly #open: { readonly source: Source; readonly columns: IndexColumns }
  readonly #texts: Awaited<ReturnType<Shelf['texts']>>

  private constructor(store: Store, source: Source, texts: Awaited<ReturnType<Shelf['texts']>>) {
    this.store = store
    this.#open = { source, columns: new IndexColumns() }
    this.#texts = texts
  }

  static async open({ url, table, tokenizer }: ViewOptions): Promise<View> {
    const texts = await textsBy(tokenizer)
    const path = withoutPassword(url)
    if (url.endsWith('.jsonl')) {
      await needFile(url)
      await needExperiences(url)
      return new View({ id: VIEW, name: path, kind: 'jsonl', holds: 'other', path }, await JsonlSource.open(url), texts)
    }
    const isSqlite = !isDatabaseUrl(url) || /^sqlite/i.test(url)
    const opened = isSqlite ? await openFile(isDatabaseUrl(url) ? sqlitePath(url) : url) : await openByUrl(url)
    const name = await tableIn(opened, table)
    const kind = isSqlite ? 'sqlite' : 'postgresql'
    const store: Store = { id: VIEW, name: `${name} of ${opened.where}`, kind, holds: 'other', path }
    return new View(store, new SqlSource(opened, name), texts)
  }

  async list(): Promise<readonly Store[]> {
    return [this.store]
  }

  async get(_: string, store: string): Promise<{ source: Source; columns: IndexColumns }> {
    if (store !== VIEW)
      throw new TrinityError('studio/no-store', `there are no experiences '${store}'`, { path: store })
    await this.#open.columns.update(this.#open.source)
    return this.#open
  }

  async texts(): ReturnType<Shelf['texts']> {
    return this.#texts
  }

  close(): Promise<void> {
    return this.#open.source.close()
  }
}

type Opened = Asked & { readonly listTables: string }

async function openFile(path: string): Promise<Opened> {
  await needFile(path)
  return { ...openToRead(path), listTables: SQLITE_TABLES }
}

async function tableIn(db: Opened, wanted: string | undefined): Promise<string> {
  const tables = await experienceTables(db, db.listTables).catch(async (cause) => {
    await db.close()
    throw new TrinityError('studio/store', `cannot read ${db.where} as a database: ${messageOf(cause)}`, {
      path: db.where,
      hint: 'is it a file that a run has written, and all of it?',
      cause,
    })
  })
  const found = wanted === undefined && tables.length === 1 ? tables[0] : tables.find((one) => one === wanted)
  if (found !== undefined) return found
  await db.close()
  if (tables.length === 0) {
    throw new TrinityError('studio/no-table', `${db.where} has no table of experiences`, {
      path: db.where,
      hint: 'a run that has begun writes one, for example to buffer/explorer_output.db in its folder',
    })
  }
  const what = wanted === undefined ? 'which table is not said' : `there is no table '${wanted}' of experiences`
  throw new TrinityError('studio/no-table', `${db.where}: ${what}`, {
    path: '--table',
    hint: `it has ${tables.join(', ')}`,
  })
}

async function textsBy(dir: string | undefined): Promise<Awaited<ReturnType<Shelf['texts']>>> {
  if (dir === undefined) return { missing: ['texts of tokens: no --tokenizer was given'] }
  try {
    return { textOf: await loadTexts(dir), missing: [] }
  } catch (error) {
    return { missing: [`texts of tokens: ${messageOf(error)}`] }
  }
}
