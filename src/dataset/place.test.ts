import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { openDataset } from '../task/index.js'
import { Place, readRecord, stateOf } from './index.js'

let folder: string
beforeEach(async () => {
  folder = join(await tempDir(), 'made')
})
const making = { name: 'sums', source: 'here', license: 'none', args: { rows: 2 } }
const open = (args: object = making.args, signal?: AbortSignal) =>
  Place.open(folder, { ...making, args: args as Record<string, unknown> }, { signal })
const ROWS = [{ q: 'one' }, { q: 'two — ünï' }]

describe('Place', () => {
  it('writes lines of JSON and records rows, bytes and the hash', async () => {
    const place = await open()
    const made = await place.write('train.jsonl', ROWS)
    const text = await readFile(join(folder, 'train.jsonl'))
    expect(text.toString()).toBe('{"q":"one"}\n{"q":"two — ünï"}\n')
    const hash = createHash('sha256').update(text).digest('hex')
    expect(made).toMatchObject({ rows: 2, bytes: text.length, sha256: hash, kept: false })
    expect(await readRecord(folder)).toEqual({
      name: 'sums',
      source: 'here',
      license: 'none',
      files: { 'train.jsonl': { rows: 2, bytes: text.length, sha256: hash, args: { rows: 2 } } },
    })
    // The record in the folder is no data.
    const rows = await openDataset({ path: folder })
    expect(rows.length).toBe(2)
    await rows.close()
  })

  it('keeps what is complete without asking for its rows, and makes what is missing', async () => {
    await (await open()).write('train.jsonl', ROWS)
    const rows = vi.fn(function* () {
      yield* ROWS
    })
    const again = await open()
    const lazy = { [Symbol.iterator]: rows }
    expect(await again.write('train.jsonl', lazy)).toMatchObject({ kept: true, rows: 2 })
    expect(rows).not.toHaveBeenCalled()
    await rm(join(folder, 'train.jsonl'))
    expect(await (await open()).write('train.jsonl', lazy)).toMatchObject({ kept: false })
    expect(again.files).toHaveLength(1)
  })

  it('makes its own files anew for other options, one by one', async () => {
    const first = await open()
    await first.write('a.jsonl', ROWS)
    await first.write('b.jsonl', ROWS)
    const other = await open({ rows: 1 })
    expect(await other.write('a.jsonl', ROWS.slice(1))).toMatchObject({ kept: false, rows: 1 })
    // As if it had been killed here: b is still of the first options.
    const back = await open({ rows: 1 })
    expect(await back.write('a.jsonl', ROWS.slice(1))).toMatchObject({ kept: true })
    expect(await back.write('b.jsonl', ROWS.slice(1))).toMatchObject({ kept: false })
  })

  it('a file may depend on less than all options', async () => {
    await (await open()).write('a.jsonl', ROWS, { from: 'x' })
    expect(await (await open({ rows: 7 })).write('a.jsonl', ROWS, { from: 'x' })).toMatchObject({ kept: true })
    expect(await (await open({ rows: 7 })).write('a.jsonl', ROWS, { from: 'y' })).toMatchObject({ kept: false })
  })

  it('lets a stop through while rows are made', async () => {
    const control = new AbortController()
    const place = await open({}, control.signal)
    setTimeout(() => control.abort(new Error('enough')), 100)
    function* endless() {
      for (;;) yield ROWS[0]
    }
    await expect(place.write('a.jsonl', endless())).rejects.toThrow('enough')
  })

  it("never overwrites the user's files", async () => {
    await mkdir(folder)
    await writeFile(join(folder, 'train.jsonl'), 'mine')
    await expect((await open()).write('train.jsonl', ROWS)).rejects.toMatchObject({
      code: 'dataset/foreign',
      message: expect.stringContaining('was not written by trinity data'),
    })
    await (await open()).write('test.jsonl', ROWS)
    await writeFile(join(folder, 'test.jsonl'), '{"q":"changed"}\n')
    for (const args of [{ rows: 2 }, { rows: 3 }]) {
      await expect((await open(args)).write('test.jsonl', ROWS)).rejects.toThrow('has changed since')
    }
    expect(await readFile(join(folder, 'train.jsonl'), 'utf8')).toBe('mine')
    await expect(Place.open(folder, { ...making, name: 'products' })).rejects.toMatchObject({
      code: 'dataset/occupied',
      message: expect.stringContaining("'sums'"),
    })
  })

  it('a failure or a stop in the middle leaves no part of a file', async () => {
    const control = new AbortController()
    const place = await open({}, control.signal)
    function* broken() {
      yield ROWS[0]
      throw new Error('no more')
    }
    await expect(place.write('a.jsonl', broken())).rejects.toThrow('no more')
    await expect(place.write('b.jsonl', [])).rejects.toMatchObject({ code: 'data/empty' })
    function* stopped() {
      yield ROWS[0]
      control.abort(new Error('stopped'))
      yield ROWS[1]
    }
    await expect(place.write('c.jsonl', stopped())).rejects.toThrow('stopped')
    expect(await readdir(folder)).toEqual([])
  })

  it('takes bytes and files, also below folders, and nothing outside', async () => {
    const place = await open()
    expect(await place.put('bin/a.jar', [new Uint8Array([1, 2]), new Uint8Array([3])])).toMatchObject({ bytes: 3 })
    await place.copy('b.jar', join(folder, 'bin/a.jar'))
    expect([...(await readFile(join(folder, 'b.jar')))]).toEqual([1, 2, 3])
    expect(place.files.map(({ rows }) => rows)).toEqual([undefined, undefined])
    for (const file of ['../a', '/a', 'a/../../b', '', 'dataset.json', 'a//b']) {
      await expect(place.write(file, ROWS)).rejects.toMatchObject({ code: 'dataset/file' })
    }
  })

  it('writes in pieces whatever the size', async () => {
    const long = Array.from({ length: 3000 }, (_, i) => ({ i, text: 'x'.repeat(1000) }))
    const made = await (await open()).write('long.jsonl', long)
    const text = await readFile(join(folder, 'long.jsonl'), 'utf8')
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(long)
    expect(await stateOf(join(folder, 'long.jsonl'), made)).toBe('unchanged')
  })
})

it('a record that is none says so', async () => {
  await mkdir(folder)
  await writeFile(join(folder, 'dataset.json'), '{"files": 3}')
  await expect(open()).rejects.toMatchObject({ code: 'dataset/record', hint: expect.stringContaining('--out') })
})
