import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
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
    for (let i = 0; i < 1203; i++) insert.run(3 * (1203 - i), JSON.stringify({ n: 3 * (1203 - i) }))
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

  it('say what is missing', async () => {
    await expect(open('other')).rejects.toMatchObject({ hint: expect.stringContaining('the name of the task set') })
    await expect(open('none')).rejects.toMatchObject({ code: 'data/empty' })
    await expect(open('math', { path: 'sqlite:///no/such.db' })).rejects.toMatchObject({ code: 'data/not-found' })
    await expect(open('math', { path: null })).rejects.toMatchObject({ code: 'task/no-path' })
  })
})
