import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { openDataFile } from './open-file.js'
import type { DataRow } from './row-source.js'

/** Written by pyarrow; fixture/values/make.py says how. */
const fixture = (name: string) => join(fileURLToPath(new URL('./fixture/values', import.meta.url)), name)

async function read(path: string): Promise<DataRow[]> {
  const source = await openDataFile(path)
  try {
    const rows: DataRow[] = []
    for await (const row of source.scan()) rows.push(row)
    for (const [i, row] of rows.entries()) expect(await source.row(i)).toEqual(row)
    return rows
  } finally {
    await source.close()
  }
}

describe.each(['values.parquet', 'values.feather'])('values that a double or a byte cannot hold: %s', (name) => {
  it('integers and decimals keep every digit', async () => {
    const rows = await read(fixture(name))
    expect(rows.map(({ integer }) => integer)).toEqual(['9007199254740993', 7, null])
    expect(rows.map(({ unsigned }) => unsigned)).toEqual(['18446744073709551615', 0, null])
    expect(rows.map(({ price }) => price)).toEqual([0.1, -1234.05, null])
    expect(rows.map(({ long }) => long)).toEqual(['12345678901234567890.123456789', '-0.000000001', null])
    expect(rows.map(({ wide }) => wide)).toEqual([-1.5, `1${'0'.repeat(40)}.5`, null])
    expect(rows.map(({ nested }) => nested)).toEqual([[{ d: 0.3 }], [], null])
    expect(rows.map(({ map }) => map)).toEqual([{ a: 0.7 }, {}, null])
  })

  it('dates and times are what a calendar and a clock show', async () => {
    const rows = await read(fixture(name))
    expect(rows.map(({ date }) => date)).toEqual(['2024-02-29', '1969-12-31', null])
    expect(rows.map(({ date64 }) => date64)).toEqual(['2024-02-29', '1969-12-31', null])
    expect(rows.map(({ time }) => time)).toEqual(['12:05:09.250001', '00:00:00', null])
    expect(rows.map(({ time32 }) => time32)).toEqual(['12:05:09', '23:59:59', null])
    expect(rows.map(({ stamp }) => stamp)).toEqual(['2024-02-29T23:59:59.123456Z', '1969-12-31T23:59:59.999Z', null])
  })
})

describe('dictionaries of an Arrow stream', () => {
  it('a replaced one holds for the batches after it alone', async () => {
    const rows = await read(fixture('replaced.arrow'))
    expect(rows.map(({ color }) => color)).toEqual(['red', 'green', 'blue', 'white', null])
  })

  it('one that grows keeps what it had', async () => {
    const rows = await read(fixture('grown.arrow'))
    expect(rows.map(({ color }) => color)).toEqual(['red', 'green', 'blue', 'red'])
  })
})

it.each(['lz4.feather', 'zstd.feather'])('%s: a compressed Arrow file', async (name) => {
  const rows = await read(fixture(name))
  expect(rows).toEqual([
    { text: 'ab'.repeat(200), n: 1 },
    { text: null, n: 2 },
    { text: 'é', n: 3 },
  ])
})

it('an empty column of a Parquet file compressed by LZ4', async () => {
  expect(await read(fixture('lz4.parquet'))).toEqual([
    { n: 1, none: null },
    { n: 2, none: null },
  ])
})

it.each(['latin1.parquet', 'latin1.feather'])('%s: text that is not UTF-8 is named by its row', async (name) => {
  const source = await openDataFile(fixture(name))
  expect(await source.row(0)).toEqual({ text: 'ok' })
  await expect(source.row(1)).rejects.toMatchObject({ code: 'data/encoding', path: `${fixture(name)}, row 1` })
  await source.close()
})
