import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeData } from '../../../test/support/made-data.js'
import { tempDir } from '../../../test/support/temp-dir.js'
import { openEnvironment } from '../../environment/index.js'
import { companyOf } from './company.js'

/** The reward of every row for its own query. */
async function rewards(folder: string, rows: readonly Record<string, unknown>[]): Promise<Set<number>> {
  const world = await openEnvironment('intercode_sql', { databases: join(folder, 'database') })
  const seen = new Set<number>()
  for (const row of rows) {
    await world.reset({ row, seed: 0 })
    await world.step(String(row.gold))
    seen.add((await world.step('submit')).reward)
  }
  await world.close()
  return seen
}

describe('trinity data intercode_sql', () => {
  it('generates questions about databases; every row can be played, and none is in both files', async () => {
    const made = await makeData('intercode_sql', { train: 30, test: 10 })
    const [train, test] = [made.rows('train.jsonl'), made.rows('test.jsonl')]
    expect([train.length, test.length]).toEqual([30, 10])
    expect(new Set([...train, ...test].map((row) => JSON.stringify(row))).size).toBe(40)
    expect(await rewards(made.folder, [...train, ...test])).toEqual(new Set([1]))
    expect(made.yaml).toContain('intercode_sql_workflow')
    const again = await makeData('intercode_sql', { train: 30, test: 10 })
    expect(again.files.map(({ sha256 }) => sha256)).toEqual(made.files.map(({ sha256 }) => sha256))
    expect(companyOf(1)).not.toBe(companyOf(2))
  })

  it('takes the tasks and databases of InterCode, without those that fail', async () => {
    const from = await tempDir()
    const task = (db: string, gold: string) => ({ db, query: `${db}?`, gold, hardness: 'easy', db_tables: {} })
    const golds = ['SELECT 1', 'SELECT count(*) FROM t', 'SELECT a FROM t', 'SELECT nothing FROM nowhere']
    await writeFile(join(from, 'ic_spider_dev.json'), JSON.stringify(golds.map((gold) => task('band', gold))))
    await writeFile(
      join(from, 'ic_spider_dbs.sql'),
      'USE `band`; CREATE TABLE `t` (`a` int); INSERT INTO `t` VALUES (1),(2);',
    )
    const made = await makeData('intercode_sql', { from, test: 1 })
    const rows = [...made.rows('train.jsonl'), ...made.rows('test.jsonl')]
    expect(rows.map(({ query_idx }) => query_idx).sort()).toEqual([0, 1, 2])
    expect(rows[0]).toMatchObject({ db: 'band', query: 'band?', hardness: 'easy' })
    expect(made.said.join()).toContain('1 tasks are left out')
    expect(await rewards(made.folder, rows)).toEqual(new Set([1]))
  })

  it('says how to get what is missing', async () => {
    const from = await tempDir()
    await expect(makeData('intercode_sql', { from })).rejects.toMatchObject({ code: 'dataset/download', path: from })
    await mkdir(join(from, 'database'))
    await writeFile(join(from, 'ic_spider_dev.json'), '[{"db": "band", "query": "?", "gold": "SELECT 1"}]')
    await expect(makeData('intercode_sql', { from })).rejects.toMatchObject({ code: 'environment/data' })
  })
})
