import { readFileSync, rmSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { testData } from '../../../test/support/test-data.js'
import { PythonRandom } from '../../base/random/index.js'
import { writeCatalogue } from './catalogue.fixture.js'
import { openShop } from './shop.js'

const data = writeCatalogue()
afterAll(() => rmSync(data, { recursive: true }))
const open = (given: object = {}) => openShop({ data, num_products: null, human_goals: true, seed: 0, ...given })

describe('goals', () => {
  it('limits are one of the next four multiples of ten but the first, and the same for the same seed', async () => {
    const [first, again, other] = [await open(), await open({ seed: 0 }), await open({ seed: 1 })]
    expect(again).toBe(first)
    const limits = (shop: typeof first) =>
      Array.from({ length: shop.goals.count }, (_, i) => shop.goals.goal(i).priceLimit)
    expect(limits(other)).not.toEqual(limits(first))
    for (let session = 0; session < first.goals.count; session++) {
      const { priceLimit, product, instruction } = first.goals.goal(session)
      const number = Array.from({ length: first.catalogue.size }, (_, i) => i).find(
        (i) => first.catalogue.product(i).asin === product.asin,
      ) as number
      const price = first.goals.price(number)
      expect(price).toBeGreaterThanOrEqual(product.pricing[0])
      expect(price).toBeLessThanOrEqual(product.pricing.at(-1) as number)
      if (price > 980) expect([priceLimit, instruction.includes('price')]).toEqual([1_000_000, false])
      else {
        const steps = priceLimit / 10 - Math.floor(price / 10)
        expect(steps).toBeGreaterThanOrEqual(2)
        expect(steps).toBeLessThanOrEqual(4)
        expect(instruction).toMatch(new RegExp(`, and price lower than ${priceLimit}\\.00 dollars$`))
      }
    }
  })

  it('sessions outside are refused, also where there are no goals at all', async () => {
    const { goals } = await open()
    for (const session of [-1, 0.5, goals.count, Number.NaN]) {
      expect(() => goals.goal(session)).toThrow(expect.objectContaining({ code: 'environment/row' }))
    }
    rmSync(`${data}/items_human_ins.json`)
    const bare = await open({ seed: 5 })
    expect(bare.goals.count).toBe(0)
    expect(() => bare.goals.goal(0)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('items_human_ins.json') }),
    )
    writeCatalogue(data)
  })
})

const shared = testData('webshop/human_goals.json')
const documents = testData('webshop/documents_1000.jsonl')
describe.skipIf(shared.absent || documents.absent)(`goals of the original${shared.note || documents.note}`, () => {
  it("the first products' goals stand where the list of all 12,087 instructions has them", async () => {
    const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, '')
    const all: string[] = JSON.parse(readFileSync(shared.path, 'utf8'))
    const order = Array.from(all, (_, i) => i)
    new PythonRandom(233).shuffle(order)
    const wishes = readFileSync(documents.path, 'utf8')
      .trim()
      .split('\n')
      .flatMap((line) => JSON.parse(line).product.instructions ?? [])
      .filter(({ instruction_attributes: wanted }) => wanted.length > 0)
    expect(wishes).toHaveLength(13)
    for (const [i, { instruction }] of wishes.entries()) {
      expect(plain(all[order.indexOf(i)])).toBe(plain(instruction))
    }
  })

  it('6,910 of them can be made from a thousand products', async () => {
    const shop = await open({ data: testData('webshop').path, human_goals: false })
    expect([shop.catalogue.size, shop.goals.count]).toEqual([1000, 6910])
  })
})
