import { describe, expect, it } from 'vitest'
import { isDatabaseUrl, quoted, sqlitePath, storedName } from './names.js'

describe('names of databases', () => {
  it('tells a database from a file', () => {
    const urls = ['sqlite:///x.db', 'postgresql://u@h/d', 'postgres://h/d', 'postgresql+psycopg2://h/d', 'mysql://h/d']
    expect(urls.filter(isDatabaseUrl)).toEqual(urls)
    const loud = ['SQLITE:///x.db', 'PostgreSQL://u@h/d']
    expect(loud.filter(isDatabaseUrl)).toEqual(loud)
    expect(['x.db', './sqlite/x.jsonl', 'C:/data/x.db', 'my-postgres:x'].filter(isDatabaseUrl)).toEqual([])
  })

  it('counts slashes as SQLAlchemy does', () => {
    expect(sqlitePath('sqlite:///runs/x.db')).toBe('runs/x.db')
    expect(sqlitePath('sqlite:////var/x.db')).toBe('/var/x.db')
    expect(sqlitePath('SQLite:////var/x.db')).toBe('/var/x.db')
    expect(() => sqlitePath('sqlite:///')).toThrow('names no file')
  })

  it('ends names that are too long in a hash of the whole, at the end of a character', () => {
    expect(storedName('experience_buffer', 63)).toBe('experience_buffer')
    expect(storedName('x'.repeat(300))).toBe('x'.repeat(300))
    const names = [`${'é'.repeat(40)}a`, `${'é'.repeat(40)}b`].map((name) => storedName(name, 63))
    expect(names[0]).toMatch(/^é{23}_[0-9a-f]{8}$/)
    expect(names[1]).not.toBe(names[0])
  })

  it('quotes a name so that it cannot end early', () => {
    expect(quoted('a"; DROP TABLE b; --')).toBe('"a""; DROP TABLE b; --"')
  })
})
