import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openJson } from './json.js'
import { JsonListSource } from './json-list.js'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'trinity-test-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

/** As if the file were too large for one text. */
async function open(text: string) {
  const path = join(dir, 'list.json')
  await writeFile(path, text)
  return openJson(path, undefined, 0)
}
async function read(text: string) {
  const source = await open(text)
  try {
    const scanned = []
    for await (const row of source.scan()) scanned.push(row)
    expect(await Promise.all(scanned.map((_, i) => source.row(i)))).toEqual(scanned)
    return scanned
  } finally {
    await source.close()
  }
}

describe('a JSON list that is too large for one text', () => {
  it('is read object by object, whatever is in them', async () => {
    const row = fc.dictionary(fc.string(), fc.jsonValue())
    const blank = fc.constantFrom('', ' ', '\n', '\r\n  ')
    const property = fc.asyncProperty(
      fc.array(row, { maxLength: 8 }),
      blank,
      fc.nat(2),
      async (rows, space, indent) => {
        const text = `${space}[${space}${rows.map((one) => JSON.stringify(one, null, indent)).join(`${space},${space}`)}${space}]${space}`
        expect(await read(text)).toEqual(JSON.parse(text))
      },
    )
    await fc.assert(property, { numRuns: 60 })
    const source = await open('[{"a": 1}]')
    expect(source).toBeInstanceOf(JsonListSource)
    await source.close()
  })

  it('keeps its place across the pieces that are read', async () => {
    const rows = Array.from({ length: 3000 }, (_, i) => ({ i, text: `"[{\\"`.repeat(200) + 'é'.repeat(i % 7) }))
    expect(await read(JSON.stringify(rows))).toEqual(rows)
  })

  it.each([
    ['[{"a": 1}', 'not closed'],
    ['[{"a": "]', 'not closed'],
    ['[{"a": 1}, 7]', 'not a list of objects'],
    ['["a"]', 'not a list of objects'],
    ['[[{"a": 1}]]', 'not a list of objects'],
    ['[{"a": 1}, {"a": x}]', 'not a list of objects'],
    ['{"data": []}', 'one JSON document'],
  ])('refuses %s', async (text, message) => {
    await expect(read(text)).rejects.toThrow(message)
  })

  it('names the line of an object that is broken', async () => {
    await expect(read('[{"a": 1},\n{"a": 2},\n{"a" 3}\n]')).rejects.toMatchObject({
      path: expect.stringMatching(/:3$/),
    })
  })
})
