import type Libsql from 'libsql'
import { libsql } from '../../../base/database/libsql.js'

/** Written into the file: one of another format is made again. */
export const FORMAT = 1

/** A database without a file. */
export const IN_MEMORY = ':memory:'

export type Row = Record<string, unknown>

/**
 * Products, their goals, and in which of them each term stands. A segment is what one transaction added: the terms of
 * some thousand products that follow each other.
 */
const TABLES = `
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value);
CREATE TABLE IF NOT EXISTS segment (number INTEGER PRIMARY KEY, next INTEGER, documents INTEGER, terms INTEGER, lengths BLOB);
CREATE TABLE IF NOT EXISTS product (number INTEGER PRIMARY KEY, asin TEXT UNIQUE, record TEXT);
CREATE TABLE IF NOT EXISTS price_range (product INTEGER PRIMARY KEY, low REAL, high REAL);
CREATE TABLE IF NOT EXISTS goals (kind TEXT, product INTEGER, count INTEGER, price REAL, PRIMARY KEY (kind, product));
CREATE TABLE IF NOT EXISTS posting (term TEXT, documents BLOB);`

/** Made at the end: an index that grows with every row takes much longer. */
export const TERM_INDEX = 'CREATE INDEX IF NOT EXISTS posting_term ON posting (term)'

export class CatalogueDatabase {
  readonly path: string
  readonly #db: Libsql.Database
  readonly #statements = new Map<string, Libsql.Statement<unknown[]>>()

  constructor(path: string) {
    this.path = path
    this.#db = new (libsql())(path)
  }

  /** Makes the tables; for those who write. */
  prepare(): void {
    // Without a log beside it the file can be read from folders that cannot be written.
    this.exec('PRAGMA page_size = 16384; PRAGMA journal_mode = DELETE')
    this.exec(TABLES)
  }

  exec(sql: string): void {
    this.#db.exec(sql)
  }

  /** Values go as one list: the driver takes bytes that stand alone for names. */
  run(sql: string, values: readonly unknown[]): number {
    return this.#statement(sql).run([...values]).changes
  }

  all(sql: string, values: readonly unknown[] = []): Row[] {
    return this.#statement(sql).all([...values]) as Row[]
  }

  about(name: string): unknown {
    return this.all('SELECT value FROM about WHERE name = ?', [name])[0]?.value
  }

  setAbout(name: string, value: string | number | Uint8Array): void {
    this.run('INSERT OR REPLACE INTO about VALUES (?, ?)', [name, value])
  }

  transaction(work: () => void): void {
    this.exec('BEGIN IMMEDIATE')
    try {
      work()
      this.exec('COMMIT')
    } catch (error) {
      if (this.#db.inTransaction) this.exec('ROLLBACK')
      throw error
    }
  }

  close(): void {
    this.#db.close()
  }

  #statement(sql: string): Libsql.Statement<unknown[]> {
    const known = this.#statements.get(sql) ?? this.#db.prepare(sql)
    this.#statements.set(sql, known)
    return known
  }
}
