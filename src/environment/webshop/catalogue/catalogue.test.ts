import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { testData } from '../../../../test/support/test-data.js'
import { rawItems, writeCatalogue } from '../catalogue.fixture.js'
import { buildCatalogue } from './build.js'
import { CATALOGUE, findFiles } from './files.js'
import { openCatalogue } from './open.js'
import { priceTag, productOf, searchText } from './product.js'

let folder = writeCatalogue()
beforeEach(() => {
  rmSync(folder, { recursive: true })
  folder = writeCatalogue()
})
afterAll(() => rmSync(folder, { recursive: true }))
const file = () => join(folder, CATALOGUE)
const build = async (context: object = {}) =>
  buildCatalogue(await findFiles(folder, null), file(), { products: null, ...context })
const asins = async (data = folder, products: number | null = null) => {
  const catalogue = await openCatalogue(data, products)
  const all = Array.from({ length: catalogue.size }, (_, i) => catalogue.product(i).asin)
  catalogue.close()
  return all
}

describe('a catalogue', () => {
  it('is the same in memory and in a file, and leaves out what the original leaves out', async () => {
    const inMemory = await asins()
    expect(inMemory).toHaveLength(60)
    await build()
    expect(await asins()).toEqual(inMemory)
    expect(await asins(file())).toEqual(inMemory)
    for (const name of ['items_shuffle.json', 'items_ins_v2.json', 'items_human_ins.json']) rmSync(join(folder, name))
    expect(await asins()).toEqual(inMemory)
    expect(await asins(folder).catch(({ code }) => code)).toEqual(inMemory)
  })

  it('takes the first products when it is asked for so many', async () => {
    const all = await asins()
    expect(await asins(folder, 10)).toEqual(all.slice(0, 10))
    await build()
    expect(await asins(folder, 10)).toEqual(all.slice(0, 10))
  })

  it('is found below data, beside a file, and by its size', async () => {
    mkdirSync(join(folder, 'shop/data'), { recursive: true })
    cpSync(join(folder, 'items_shuffle.json'), join(folder, 'shop/data/items_shuffle_1000.json'))
    cpSync(join(folder, 'items_ins_v2.json'), join(folder, 'shop/data/items_ins_v2_1000.json'))
    writeFileSync(join(folder, 'shop/data/documents_100.jsonl'), `${JSON.stringify(rawItems()[0])}\n`)
    const shop = join(folder, 'shop')
    expect(await findFiles(shop, null)).toMatchObject({
      products: join(shop, 'data/items_shuffle_1000.json'),
      attributes: join(shop, 'data/items_ins_v2_1000.json'),
    })
    expect((await findFiles(shop, 100)).products).toBe(join(shop, 'data/documents_100.jsonl'))
    const one = join(shop, 'data/documents_100.jsonl')
    expect(await findFiles(one, null)).toMatchObject({ products: one })
    await expect(findFiles(join(folder, 'nowhere'), null)).rejects.toMatchObject({ code: 'environment/data' })
  })
})

describe('a catalogue in a file', () => {
  const changed = () => statSync(file()).mtimeMs

  it('is left alone when it is complete, and made again for other files', async () => {
    await build()
    const before = changed()
    await build()
    expect(changed()).toBe(before)
    writeFileSync(join(folder, 'items_shuffle.json'), JSON.stringify(rawItems().slice(0, 5)))
    await build()
    expect(await asins()).toHaveLength(5)
    expect(readdirSync(folder).filter((name) => name.startsWith(CATALOGUE))).toEqual([CATALOGUE])
  })

  it('is continued where it stopped', async () => {
    const expected = await asins()
    writeFileSync(
      join(folder, 'items_shuffle.jsonl'),
      rawItems()
        .map((item) => JSON.stringify(item))
        .join('\n'),
    )
    const files = { ...(await findFiles(folder, null)), products: join(folder, 'items_shuffle.jsonl') }
    const control = new AbortController()
    const logger = { info: vi.fn((text: string) => text.includes('40 of') && control.abort(new Error('stopped'))) }
    const context = { products: null, segment: 20, logger: logger as never, signal: control.signal }
    await expect(buildCatalogue(files, file(), context)).rejects.toThrow('stopped')
    await expect(openCatalogue(file(), null)).rejects.toMatchObject({
      code: 'environment/catalogue',
      message: expect.stringContaining('not complete'),
    })
    await buildCatalogue(files, file(), { ...context, signal: undefined })
    expect(logger.info.mock.calls.map(([text]) => text)).toEqual([
      ...['webshop: 20 of 62 records', 'webshop: 40 of 62 records'],
      ...['webshop: 60 of 62 records', 'webshop: 62 of 62 records'],
    ])
    expect(await asins()).toEqual(expected)
    const [whole, parts] = [
      await openCatalogue(join(folder, 'items_shuffle.json'), null),
      await openCatalogue(file(), null),
    ]
    for (const term of ['lamp', 'run', 'mint', 'x']) expect(parts.postings(term)).toEqual(whole.postings(term))
    expect([parts.documents, parts.terms, parts.lengths]).toEqual([whole.documents, whole.terms, whole.lengths])
  })

  it('that is broken, or something else, says so', async () => {
    await build()
    for (const spoil of [
      () => truncateSync(file(), 20_000),
      () => writeFileSync(file(), 'not a database'),
      () => writeFileSync(file(), ''),
    ]) {
      spoil()
      await expect(asins()).rejects.toMatchObject({ code: 'environment/catalogue', path: file() })
    }
  })
})

describe('files that are broken', () => {
  it.each([
    ['items_shuffle.json', '[{"asin": "B01"'],
    ['items_shuffle.json', '{"asin": ""}'],
    ['items_shuffle.json', '[]'],
    ['items_shuffle.json', '[1, 2]'],
    ['items_shuffle.json', '[{"name": "no asin"}]'],
    ['items_shuffle.json', '[{"asin": "B01", "pricing": "$about 5.5.5"}]'],
    ['items_ins_v2.json', '[1]'],
    ['items_human_ins.json', '{'],
  ])('%s: %s', async (name, text) => {
    writeFileSync(join(folder, name), text)
    const error = await openCatalogue(folder, null).catch((thrown) => thrown)
    expect(error).toMatchObject({ name: 'TrinityError', message: expect.stringMatching(/\w/) })
  })

  it('reads objects with a toString of their own as JSON', () => {
    const odd = { toString: 1 }
    const product = productOf({ asin: 'A', name: odd, small_description: [[odd, 'x']], pricing: '$5' }, {})
    expect(product).toMatchObject({ title: '{"toString":1}', bullets: ['{"toString":1},x'] })
    expect(() => productOf({ asin: 'A', pricing: [odd] }, {})).toThrow('it has the price [{"toString":1}]')
  })

  it('odd values in a record are no reason to stop', () => {
    const item = { asin: 'B01', name: null, small_description: null, customization_options: { Size: [null, 3, {}] } }
    const notes = {
      attributes: { B01: { attributes: 'x', instruction: 5 } },
      human: { B01: [null, { instruction: 1 }] },
    }
    expect(productOf(item, notes)).toMatchObject({
      title: '',
      bullets: [''],
      pricing: [100],
      options: [['size', ['', '3', '']]],
      attributes: ['DUMMY_ATTR'],
      wishes: [],
      synthetic: undefined,
    })
    expect(productOf({ asin: 'constructor', name: 'x' }, { attributes: {}, human: {} })).toBeUndefined()
    expect(productOf({ asin: 'toString' }, { attributes: {}, human: {} })?.wishes).toEqual([])
  })
})

const documents = testData('webshop/documents_1000.jsonl')
it.skipIf(documents.absent)(`products are searched by the text that the original made of them${documents.note}`, () => {
  for (const line of readFileSync(documents.path, 'utf8').trim().split('\n')) {
    const record = JSON.parse(line)
    const product = productOf(record, {})
    expect(product && searchText(product)).toBe(record.contents)
    expect(product && priceTag(product)).toBe(record.product.Price)
  }
})
