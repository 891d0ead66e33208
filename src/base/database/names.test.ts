import { describe, expect, it } from 'vitest'
import { isDatabaseUrl, quoted, sqlitePath } from './names.js'

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

  it('quotes a name so that it cannot end early', () => {
    expect(quoted('a"; DROP TABLE b; --')).toBe('"a""; DROP TABLE b; --"')
  })
})
