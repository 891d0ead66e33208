import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { TrinityError } from '../../base/error.js'
import { Taskset } from '../taskset.js'
import { SqlSource } from './sql.js'

let dir: string
let url: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-test-'))
  url = `sqlite:///${join(dir, 'tasks.db')}`
  const db = new Libsql(join(dir, 'tasks.db'))
  db.exec('CREATE TABLE math (id INTEGER PRIMARY KEY, raw_task JSON); CREATE TABLE none (id INTEGER, raw_task JSON)')
  const insert = db.prepare('INSERT INTO math (id, raw_task) VALUES (?, ?)')
  for (const id of [30, 10, 20]) insert.run(id, JSON.stringify({ prompt: `task ${id}`, level: id }))
  insert.run(40, 'no JSON')
  db.close()
})
afterAll(() => rm(dir, { recursive: true, force: true }))

const open = (name: string, more = {}) =>
  Taskset.open({ storage_type: 'sql', path: url, name, default_workflow_type: 'w', ...more })

describe('tasks in a database', () => {
  it('are read in the order of their ids', async () => {
    const tasks = await open('math')
    expect(tasks.length).toBe(4)
    expect((await tasks.take(3)).map(({ taskDesc }) => taskDesc)).toEqual(['task 10', 'task 20', 'task 30'])
    await expect(tasks.take(1)).rejects.toMatchObject({ path: expect.stringContaining('table math, id 40') })
    await tasks.close()
  })

  it('are scanned in order with few queries', async () => {
    const file = join(dir, 'many.db')
    const db = new Libsql(file)
    db.exec('CREATE TABLE many (id INTEGER PRIMARY KEY, raw_task JSON)')
    const insert = db.prepare('INSERT INTO many (id, raw_task) VALUES (?, ?)')
    db.exec('BEGIN')
    for (let i = 0; i < 1203; i++) insert.run(3 * (1203 - i), JSON.stringify({ n: 3 * (1203 - i) }))
    db.exec('COMMIT')
    db.close()
    const source = await SqlSource.open(`sqlite:///${file}`, 'many')
    const statement = Object.getPrototypeOf(new Libsql(':memory:').prepare('SELECT 1'))
    const query = vi.spyOn(statement, 'all')
    const found: unknown[] = []
    for await (const { n } of source.scan()) found.push(n)
    expect(found).toEqual(Array.from({ length: 1203 }, (_, i) => 3 * (i + 1)))
    expect(query).toHaveBeenCalledTimes(3)
    query.mockRestore()
    await source.close()
  })

  it('names the row whose text is not UTF-8', async () => {
    const file = join(dir, 'latin1.db')
    const db = new Libsql(file)
    db.exec(`CREATE TABLE tasks (id INTEGER PRIMARY KEY, raw_task TEXT);
      INSERT INTO tasks VALUES (1, '{"q": "naïve"}'), (2, CAST(x'7b2271223a20226e61ef7665227d' AS TEXT))`)
    db.close()
    const source = await SqlSource.open(`sqlite:///${file}`, 'tasks')
    expect(await source.row(0)).toEqual({ q: 'naïve' })
    const problem = { code: 'data/encoding', path: expect.stringContaining('table tasks, id 2') }
    await expect(source.row(1)).rejects.toMatchObject(problem)
    await source.close()
  })

  it('names the file that is damaged', async () => {
    const file = join(dir, 'damaged.db')
    const db = new Libsql(file)
    db.exec('CREATE TABLE tasks (id INTEGER PRIMARY KEY, raw_task TEXT)')
    db.exec('BEGIN')
    for (let id = 0; id < 2000; id++) db.prepare('INSERT INTO tasks VALUES (?, ?)').run(id, '{"q": "a question"}')
    db.exec('COMMIT')
    db.close()
    const bytes = await readFile(file)
    await writeFile(file, bytes.fill(0xff, bytes.length >> 1))
    const source = await SqlSource.open(`sqlite:///${file}`, 'tasks').catch((error: unknown) => error)
    const failed = source instanceof SqlSource ? await source.row(1900).catch((error: unknown) => error) : source
    expect(failed).toMatchObject({ message: expect.stringContaining('malformed'), path: expect.stringContaining(file) })
    expect(failed).toBeInstanceOf(TrinityError)
    if (source instanceof SqlSource) await source.close()
  })

  it('say what is missing', async () => {
    await expect(open('other')).rejects.toMatchObject({ hint: expect.stringContaining('the name of the task set') })
    await expect(open('none')).rejects.toMatchObject({ code: 'data/empty' })
    await expect(open('math', { path: 'sqlite:///no/such.db' })).rejects.toMatchObject({ code: 'data/not-found' })
    await expect(open('math', { path: null })).rejects.toMatchObject({ code: 'task/no-path' })
  })
})
