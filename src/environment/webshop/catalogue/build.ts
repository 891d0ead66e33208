import { rm } from 'node:fs/promises'
import { messageOf, TrinityError } from '../../../base/error.js'
import { readJsonObject } from '../../../base/file/json-file.js'
import { systemError } from '../../../base/file/system-error.js'
import type { Logger } from '../../../base/log/logger.js'
import { openDataFile } from '../../../task/source/open-file.js'
import type { RowSource } from '../../../task/source/row-source.js'
import { analyze } from '../search/analyze.js'
import { encodeLength } from '../search/bm25.js'
import { PostingsWriter } from '../search/postings.js'
import { type CatalogueFiles, fingerprint } from './files.js'
import { type Annotations, malformed, type Product, productOf, searchText } from './product.js'
import { CatalogueDatabase, FORMAT, IN_MEMORY, TERM_INDEX } from './schema.js'

export interface BuildContext {
  /** The first so many records; null: all. */
  readonly products: number | null
  /** Records of a segment: what is in memory at one time, and what a stop loses. */
  readonly segment?: number
  readonly signal?: AbortSignal
  readonly logger?: Logger
}

const SEGMENT = 20_000

/**
 * Reads the files once and writes what the shop needs, segment by segment, into a database. One that was begun before is
 * continued, one that is complete is left alone, one of other files is made again.
 */
export async function buildCatalogue(files: CatalogueFiles, path: string, context: BuildContext): Promise<void> {
  const db = await begin(files, path, context)
  try {
    await fill(db, files, context)
  } finally {
    db.close()
  }
}

/** The same in memory. */
export async function catalogueInMemory(files: CatalogueFiles, context: BuildContext): Promise<CatalogueDatabase> {
  const db = await begin(files, IN_MEMORY, context)
  await fill(db, files, context)
  return db
}

async function begin(files: CatalogueFiles, path: string, { products }: BuildContext): Promise<CatalogueDatabase> {
  const of = await fingerprint(files, products)
  const open = () => {
    const db = new CatalogueDatabase(path)
    db.prepare()
    return db
  }
  let db = open()
  if (db.about('format') === FORMAT && db.about('files') === of) return db
  if (db.about('files') !== undefined) {
    db.close()
    await rm(path)
    db = open()
  }
  db.setAbout('format', FORMAT)
  db.setAbout('files', of)
  return db
}

async function fill(db: CatalogueDatabase, files: CatalogueFiles, context: BuildContext): Promise<void> {
  if (db.about('complete') === 1) return
  const annotations = await readAnnotations(files)
  const source = await openDataFile(files.products)
  try {
    const count = Math.min(source.length, context.products ?? source.length)
    for (let next = nextRecord(db); next < count; next = nextRecord(db)) {
      const end = Math.min(count, next + (context.segment ?? SEGMENT))
      const products = await readProducts(source, next, end, annotations, context.signal)
      addSegment(db, products, end)
      context.logger?.info(`webshop: ${end} of ${count} records`)
    }
    finish(db)
  } catch (error) {
    throw systemError(error, db.path)
  } finally {
    await source.close()
  }
}

async function readAnnotations({ attributes, human }: CatalogueFiles): Promise<Annotations> {
  return {
    attributes: attributes === undefined ? undefined : await readJsonObject(attributes),
    human: human === undefined ? undefined : await readJsonObject(human),
  }
}

async function readProducts(
  source: RowSource,
  from: number,
  end: number,
  annotations: Annotations,
  signal: AbortSignal | undefined,
): Promise<Product[]> {
  const products: Product[] = []
  for (let at = from; at < end; at++) {
    signal?.throwIfAborted()
    try {
      const product = productOf(await source.row(at), annotations)
      if (product) products.push(product)
    } catch (error) {
      throw malformed(error, await source.where(at))
    }
  }
  return products
}

function nextRecord(db: CatalogueDatabase): number {
  return Number(db.all('SELECT max(next) AS next FROM segment')[0].next ?? 0)
}

function addSegment(db: CatalogueDatabase, products: readonly Product[], next: number): void {
  db.transaction(() => {
    const writer = new PostingsWriter()
    const lengths: number[] = []
    let terms = 0
    let number = Number(db.all('SELECT max(number) AS last FROM product')[0].last ?? -1) + 1
    for (const product of products) {
      // Of products that stand there twice, the first counts.
      if (!addProduct(db, number, product)) continue
      const found = analyze(searchText(product))
      writer.add(number++, found)
      lengths.push(encodeLength(found.length))
      terms += found.length
    }
    for (const [term, bytes] of writer.entries()) db.run('INSERT INTO posting VALUES (?, ?)', [term, bytes])
    const documents = lengths.filter((length) => length > 0).length
    const row = [next, documents, terms, Uint8Array.from(lengths)]
    db.run('INSERT INTO segment (next, documents, terms, lengths) VALUES (?, ?, ?, ?)', row)
  })
}

function addProduct(db: CatalogueDatabase, number: number, product: Product): boolean {
  const row = [number, product.asin, JSON.stringify(product)]
  if (db.run('INSERT OR IGNORE INTO product VALUES (?, ?, ?)', row) === 0) return false
  const [low, high] = product.pricing
  if (high !== undefined) db.run('INSERT INTO price_range VALUES (?, ?, ?)', [number, low, high])
  const goal = 'INSERT INTO goals VALUES (?, ?, ?, ?)'
  if (product.wishes.length > 0) db.run(goal, ['human', number, product.wishes.length, low])
  const choices = product.options.reduce((count, [, values]) => count * values.length, 1)
  if (product.synthetic && choices > 0) db.run(goal, ['synthetic', number, choices, low])
  return true
}

function finish(db: CatalogueDatabase): void {
  db.exec(TERM_INDEX)
  const byAsin = db.all('SELECT number FROM product ORDER BY asin')
  if (byAsin.length === 0) {
    throw new TrinityError('environment/data', 'the catalogue holds no product', { path: db.path })
  }
  const ranks = new Uint32Array(byAsin.length)
  for (const [rank, { number }] of byAsin.entries()) ranks[Number(number)] = rank
  db.setAbout('ranks', new Uint8Array(ranks.buffer))
  db.setAbout('complete', 1)
}

/** Opens what `buildCatalogue` has made; an error if it is something else. */
export function openBuilt(path: string): CatalogueDatabase {
  let why = 'it is not complete'
  let db: CatalogueDatabase | undefined
  try {
    db = new CatalogueDatabase(path)
    if (db.about('format') !== FORMAT) why = 'it was made by another version'
    else if (db.about('complete') === 1) return db
  } catch (error) {
    why = messageOf(error)
  }
  db?.close()
  throw new TrinityError('environment/catalogue', `${path} is not a catalogue that can be used: ${why}`, {
    path,
    hint: 'make it (again) with trinity data webshop; a part that is there is continued',
  })
}
