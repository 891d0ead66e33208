import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tableFromJSON, tableToIPC } from 'apache-arrow'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDataFile } from './open-file.js'
import type { DataRow, RowSource } from './row-source.js'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-test-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

async function all(source: RowSource): Promise<DataRow[]> {
  const rows: DataRow[] = []
  for await (const row of source.scan()) rows.push(row)
  return rows
}

describe('Parquet', () => {
  const size = 1000
  const rows = Array.from({ length: size }, (_, i) => ({ id: i, text: `row ${i}`, score: i / 8 }))

  async function write(path: string): Promise<void> {
    const buffer = parquetWriteBuffer({
      columnData: [
        { name: 'id', data: rows.map(({ id }) => BigInt(id)), type: 'INT64' },
        { name: 'text', data: rows.map(({ text }) => text), type: 'STRING' },
        { name: 'score', data: rows.map(({ score }) => score), type: 'DOUBLE' },
        { name: 'bytes', data: rows.map(({ id }) => new Uint8Array([255, id & 255])), type: 'BYTE_ARRAY' },
      ],
      rowGroupSize: 64,
    })
    await writeFile(path, new Uint8Array(buffer))
  }

  it('reads rows in any order over many row groups; binary stays binary', async () => {
    const path = join(dir, 'a.parquet')
    await write(path)
    const source = await openDataFile(path)
    expect(source.length).toBe(size)
    for (const i of [999, 0, 64, 63, 500, 128]) {
      expect(await source.row(i)).toEqual({ ...rows[i], bytes: new Uint8Array([255, i & 255]) })
    }
    expect((await all(source)).map(({ id }) => id)).toEqual(rows.map(({ id }) => id))
    await source.close()
  })

  it('hands out rows that a caller may change', async () => {
    const path = join(dir, 'b.parquet')
    await write(path)
    const source = await openDataFile(path)
    ;(await source.row(0)).text = 'changed'
    expect((await source.row(0)).text).toBe('row 0')
    await source.close()
  })

  it('says so when the file is damaged', async () => {
    const path = join(dir, 'c.parquet')
    await write(path)
    await truncate(path, 500)
    await expect(openDataFile(path)).rejects.toMatchObject({ code: 'data/malformed', path })
  })
})

describe('Arrow', () => {
  const rows = Array.from({ length: 30 }, (_, i) => ({
    id: i,
    text: `row ${i}`,
    list: [i, i + 1],
    nested: { a: i, b: 'x' },
  }))

  it.each(['file', 'stream'] as const)('reads the %s form', async (form) => {
    const path = join(dir, `${form}.arrow`)
    await writeFile(path, tableToIPC(tableFromJSON(rows), form))
    const source = await openDataFile(path)
    expect(source.length).toBe(30)
    expect(await source.row(29)).toEqual(rows[29])
    expect(await all(source)).toEqual(rows)
    await source.close()
  })

  it('says so when the file is damaged or something else', async () => {
    const path = join(dir, 'cut.arrow')
    await writeFile(path, tableToIPC(tableFromJSON(rows), 'stream').subarray(0, 900))
    await expect(openDataFile(path)).rejects.toThrow('the file ends inside the message')
    await writeFile(path, 'no arrow file at all')
    await expect(openDataFile(path)).rejects.toMatchObject({ code: 'data/malformed', path })
  })
})
