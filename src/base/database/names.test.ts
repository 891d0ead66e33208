import { describe, expect, it } from 'vitest'
import { isDatabaseUrl, quoted, sqlitePath, withoutPassword } from './names.js'

describe('names of databases', () => {
  it('tells a database from a file', () => {
    const urls = ['sqlite:///x.db', 'postgresql://u@h/d', 'postgres://h/d', 'postgresql+psycopg2://h/d', 'mysql://h/d']
    expect(urls.filter(isDatabaseUrl)).toEqual(urls)
    expect(['x.db', './sqlite/x.jsonl', 'C:/data/x.db', 'my-postgres:x'].filter(isDatabaseUrl)).toEqual([])
  })

  it('counts slashes as SQLAlchemy does', () => {
    expect(sqlitePath('sqlite:///runs/x.db')).toBe('runs/x.db')
    expect(sqlitePath('sqlite:////var/x.db')).toBe('/var/x.db')
    expect(() => sqlitePath('sqlite:///')).toThrow('names no file')
  })

  it('never shows a password', () => {
    expect(withoutPassword('postgresql://me:se:cr@t@host:5432/d')).not.toMatch(/se:cr|@t@/)
    expect(withoutPassword('postgresql://me:secret@host/d')).toBe('postgresql://me:***@host/d')
    expect(withoutPassword('postgresql://me@host:5432/d')).toBe('postgresql://me@host:5432/d')
  })

  it('quotes a name so that it cannot end early', () => {
    expect(quoted('a"; DROP TABLE b; --')).toBe('"a""; DROP TABLE b; --"')
  })
})
