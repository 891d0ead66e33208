import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openDataFile } from './open-file.js'
import type { DataRow, RowSource } from './row-source.js'

let dir: string
let count = 0
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-test-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

async function file(ending: string, content: string | Uint8Array): Promise<string> {
  const path = join(dir, `data${count++}.${ending}`)
  await writeFile(path, content)
  return path
}

/** All rows, both ways of reading; they must agree. */
async function read(path: string): Promise<DataRow[]> {
  const source = await opened(path)
  const scanned: DataRow[] = []
  for await (const row of source.scan()) scanned.push(row)
  const single = await Promise.all(Array.from({ length: source.length }, (_, i) => source.row(i)))
  expect(single).toEqual(scanned)
  return single
}

const open: RowSource[] = []
afterEach(() => Promise.all(open.splice(0).map((source) => source.close())))
/** Closed after the test. */
async function opened(path: string): Promise<RowSource> {
  const source = await openDataFile(path)
  open.push(source)
  return source
}

async function failure(work: Promise<unknown>): Promise<{ message: string; path?: string; hint?: string }> {
  return work.then(
    () => {
      throw new Error('did not fail')
    },
    (error) => error,
  )
}

describe('JSON lines', () => {
  it('reads any rows with any line ends, blank lines and a byte order mark', async () => {
    const blank = fc.constantFrom('', ' ', '\t \r')
    const end = fc.constantFrom('\n', '\r\n')
    const line = fc.record({ value: fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), blank, end })
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.boolean(), fc.boolean(), async (lines, mark, lastEnd) => {
        let text = mark ? '\uFEFF' : ''
        for (const [i, { value, blank, end }] of lines.entries()) {
          if (blank) text += blank + end
          text += JSON.stringify(value) + (i < lines.length - 1 || lastEnd ? end : '')
        }
        const plain = lines.map(({ value }) => JSON.parse(JSON.stringify(value)))
        expect(await read(await file('jsonl', text))).toEqual(plain)
      }),
      { numRuns: 60 },
    )
  })

  it('keeps records that lie across the borders of its chunks', async () => {
    const rows = Array.from({ length: 40 }, (_, i) => ({ i, text: 'é'.repeat(70_000 + i) }))
    const text = rows.map((row) => JSON.stringify(row)).join('\n')
    expect(await read(await file('jsonl', text))).toEqual(rows)
  })

  it('names file and line of a bad record', async () => {
    const path = await file('jsonl', '{"a":1}\n\n{"a":2}\n{"a":nan}\n[1]\n')
    const source = await opened(path)
    expect(await source.row(1)).toEqual({ a: 2 })
    const bad = await failure(source.row(2))
    expect(bad.path).toBe(`${path}:4`)
    expect((await failure(source.row(3))).path).toBe(`${path}:5`)
    expect((await failure(source.row(3))).hint).toBe('this line is a list')
  })

  it('reads integers beyond 2^53 as their digits, and NaN', async () => {
    const text = '{"truth": 9007199254740993}\n{"truth": NaN}\n'
    expect(await read(await file('jsonl', text))).toEqual([{ truth: '9007199254740993' }, { truth: Number.NaN }])
    expect(await read(await file('json', '[{"truth": 9007199254740993}]'))).toEqual([{ truth: '9007199254740993' }])
  })

  it('reads gzip', async () => {
    expect(await read(await file('jsonl.gz', gzipSync('{"a":1}\n{"a":2}')))).toEqual([{ a: 1 }, { a: 2 }])
    expect((await failure(read(await file('jsonl.gz', 'no')))).message).toContain('cannot decompress')
  })

  it.each([
    ['json.gz', gzipSync('[{"a":1},{"a":2}]'), [{ a: 1 }, { a: 2 }]],
    ['json.gz', gzipSync('{"a":1}\n{"a":2}'), [{ a: 1 }, { a: 2 }]],
    ['csv', 'frage;"a, b"\n1,5;x\n', [{ frage: '1,5', 'a, b': 'x' }]],
    ['csv', '"a;b",c\n1;2,3\n', [{ 'a;b': '1;2', c: '3' }]],
    ['csv.gz', gzipSync('a,b\n1,x\n'), [{ a: '1', b: 'x' }]],
    // The line {"a":1}, as pyarrow compresses it.
    ['jsonl.zst', Buffer.from('28b52ffd20084100007b2261223a317d0a', 'hex'), [{ a: 1 }]],
  ])('reads .%s', async (ending, bytes, rows) => {
    expect(await read(await file(ending, bytes))).toEqual(rows)
  })

  it('notices a file that becomes shorter', async () => {
    const path = await file('jsonl', '{"a":1}\n{"a":2}\n')
    const source = await opened(path)
    await writeFile(path, '{"a":1}\n')
    expect((await failure(source.row(1))).message).toContain('became shorter')
  })
})

describe('JSON', () => {
  it('reads a list, a list under data, and JSON lines under the wrong name', async () => {
    const rows = [{ a: 1 }, { a: [2] }]
    expect(await read(await file('json', JSON.stringify(rows, null, 2)))).toEqual(rows)
    expect(await read(await file('json', JSON.stringify({ data: rows })))).toEqual(rows)
    expect(await read(await file('json', '{"a":1}\n{"a":[2]}'))).toEqual(rows)
    expect(await read(await file('json', '{"a":1}'))).toEqual([{ a: 1 }])
  })

  it('hands out rows that a caller may change', async () => {
    const source = await opened(await file('json', '[{"a":[1]}]'))
    ;((await source.row(0)).a as number[]).push(2)
    expect(await source.row(0)).toEqual({ a: [1] })
  })

  it.each([
    ['3', 'a list of objects'],
    ['[1]', 'row 0 is not an object'],
    ['[{]', 'not valid JSON'],
    ['', 'not valid JSON'],
  ])('refuses %s', async (text, message) => {
    expect((await failure(read(await file('json', text)))).message).toContain(message)
  })
})

describe('CSV', () => {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`

  it('reads whatever a writer by RFC 4180 writes', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', 'é', ' ', '"', ',', '\n', '\r\n', '\t', '7') })
    const table = fc
      .integer({ min: 1, max: 4 })
      .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 6 }))
    await fc.assert(
      fc.asyncProperty(table, fc.constantFrom('\n', '\r\n'), fc.boolean(), async (cells, end, lastEnd) => {
        const width = cells[0]?.length ?? 1
        const names = Array.from({ length: width }, (_, i) => `c${i}`)
        const lines = [names.join(','), ...cells.map((row) => row.map(quoted).join(','))]
        const expected = cells.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]])))
        expect(await read(await file('csv', lines.join(end) + (lastEnd ? end : '')))).toEqual(expected)
      }),
      { numRuns: 80 },
    )
  })

  it('reads plain fields, quotes inside them, tabs, and keeps numbers as text', async () => {
    expect(await read(await file('csv', 'a,b\n007,5" pipe\n\n,x\n'))).toEqual([
      { a: '007', b: '5" pipe' },
      { a: '', b: 'x' },
    ])
    expect(await read(await file('tsv', 'a\tb\n1,5\t"x\ty"'))).toEqual([{ a: '1,5', b: 'x\ty' }])
  })

  it('names the line of a ragged row, a column given twice, and an open quote', async () => {
    const path = await file('csv', 'a,b\n"1\n1",2\n3\n')
    const source = await opened(path)
    expect(await failure(source.row(1))).toMatchObject({
      path: `${path}:4`,
      message: 'the row has 1 fields, the header has 2',
    })
    expect((await failure(openDataFile(await file('csv', 'a,a\n1,2')))).message).toContain("'a' occurs twice")
    expect((await failure(openDataFile(await file('csv', 'a,b\n"1,2')))).message).toContain('inside a quoted field')
  })
})

describe('any file', () => {
  it.each([
    ['jsonl', '{"a":"ok"}\n{"a":"', '"}\n', ':2'],
    ['csv', 'a\nok\n', '\n', ':3'],
    ['json', '[{"a":"', '"}]', ''],
  ])('%s: text that is not UTF-8 is refused, with its line', async (ending, before, after, line) => {
    const path = await file(ending, Buffer.concat([Buffer.from(before), Buffer.from([0xe9]), Buffer.from(after)]))
    expect(await failure(read(path))).toMatchObject({ code: 'data/encoding', path: path + line })
  })

  it('says which endings it knows', async () => {
    expect((await failure(openDataFile(await file('dat', '')))).hint).toContain('.parquet')
    for (const ending of ['jsonl.bz2', 'jsonl.xz', 'txt', 'xlsx', 'zip']) {
      expect((await failure(openDataFile(await file(ending, '')))).hint).toMatch(/first|turn|save/)
    }
  })

  it('needs memory for positions only: 8 bytes per record', async () => {
    const path = await file('jsonl', `${JSON.stringify({ text: 'x'.repeat(1000) })}\n`.repeat(20_000))
    const before = process.memoryUsage()
    const sources: RowSource[] = []
    for (let i = 0; i < 5; i++) sources.push(await openDataFile(path))
    const after = process.memoryUsage()
    // Five times 20 MB are open; a tenth of that is generous for five megabyte-sized chunks waiting for collection.
    const grown = after.heapUsed + after.external - before.heapUsed - before.external
    expect(grown).toBeLessThan(20e6)
    expect(await sources[4].row(19_999)).toMatchObject({ text: 'x'.repeat(1000) })
    await Promise.all(sources.map((source) => source.close()))
  })
})
