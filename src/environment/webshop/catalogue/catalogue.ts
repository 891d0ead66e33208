import { Recent } from '../recent.js'
import { type Postings, readPostings } from '../search/postings.js'
import type { SearchIndex } from '../search/search.js'
import type { Product } from './product.js'
import type { CatalogueDatabase } from './schema.js'

/** Products that are kept ready. */
const READY = 4000
/** Bytes of postings that are kept ready. */
const READY_BYTES = 256 << 20

/** How many goals a product has. */
export interface GoalCount {
  readonly product: number
  readonly count: number
  /** The lower one of two. */
  readonly price: number
}

/** The products of a shop by number, and where words stand in them. Whatever its size, only little of it is in memory. */
export class Catalogue implements SearchIndex {
  readonly lengths: Uint8Array
  readonly ranks: Uint32Array
  readonly documents: number
  readonly terms: number
  readonly #db: CatalogueDatabase
  readonly #products = new Recent<number, Product>(READY)
  readonly #postings = new Recent<string, Postings>(READY_BYTES, ({ documents }) => 6 * documents.length + 64)

  /** `db`: complete. */
  constructor(db: CatalogueDatabase) {
    this.#db = db
    const segments = db.all('SELECT documents, terms, lengths FROM segment ORDER BY number')
    const sum = (name: string) => segments.reduce((total, segment) => total + Number(segment[name]), 0)
    this.documents = sum('documents')
    this.terms = sum('terms')
    this.lengths = Buffer.concat(segments.map(({ lengths }) => new Uint8Array(lengths as ArrayBuffer)))
    this.ranks = new Uint32Array(db.about('ranks') as ArrayBuffer)
  }

  get size(): number {
    return this.ranks.length
  }

  product(number: number): Product {
    return this.#products.get(number, () => {
      const [row] = this.#db.all('SELECT record FROM product WHERE number = ?', [number])
      return JSON.parse(String(row.record))
    })
  }

  postings(term: string): Postings {
    return this.#postings.get(term, () => {
      const rows = this.#db.all('SELECT documents FROM posting WHERE term = ? ORDER BY rowid', [term])
      return readPostings(rows.map(({ documents }) => documents as ArrayBuffer))
    })
  }

  /** In the order of the products. */
  goals(kind: 'human' | 'synthetic'): GoalCount[] {
    const rows = this.#db.all('SELECT product, count, price FROM goals WHERE kind = ? ORDER BY product', [kind])
    return rows as unknown as GoalCount[]
  }

  /** Products whose price is not one number, in their order. */
  priceRanges(): { product: number; low: number; high: number }[] {
    const rows = this.#db.all('SELECT product, low, high FROM price_range ORDER BY product')
    return rows as unknown as { product: number; low: number; high: number }[]
  }

  close(): void {
    this.#db.close()
  }
}
