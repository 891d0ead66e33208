import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Product } from '../catalogue/product.js'
import type { Goal } from '../goals.js'
import { normalizeColor } from './colors.js'
import { type Purchase, rewardOf } from './reward.js'
import { titleNouns } from './title-nouns.js'
import { tokenSetRatio } from './token-set-ratio.js'

const shampoo: Product = {
  asin: 'B000000001',
  title: 'Alba Mild Shampoo Bottle',
  description: 'Washes dry hair.',
  bullets: ['Made with Tea Tree oil', 'no dyes'],
  pricing: [18],
  options: [['size', ['8 oz', '12 oz']]],
  attributes: ['essential oil', 'natural ingredients'],
  category: 'beauty',
  query: 'shampoo',
  productCategory: 'Beauty › Hair Care › Shampoos',
  rating: 'N.A.',
  reviews: [],
  wishes: [],
}
const goal: Goal = {
  session: 0,
  product: shampoo,
  instruction: '',
  attributes: ['essential oils', 'tea tree', 'gluten free'],
  options: ['12 oz', 'light blue'],
  priceLimit: 20,
}
const buy = (purchase: Partial<Purchase> = {}, wanted: Partial<Goal> = {}) =>
  rewardOf({ product: shampoo, price: 18, options: [], ...purchase }, { ...goal, ...wanted })

describe('the reward of a purchase', () => {
  it('counts attributes, options and the price, over all that was wanted', () => {
    // two of three attributes (one by its list, one by its text), no option, the price: 3 of 3 + 2 + 1
    expect(buy()).toEqual({ total: 3 / 6, type: 1, attributes: 2, options: 0, price: true })
    expect(buy({ options: ['12 oz'] }).total).toBe(4 / 6)
    expect(buy({ options: ['12 oz', 'sky blue'], price: 20 }).total).toBe(5 / 6)
    expect(buy({ options: ['12 oz', 'sky blue'], price: 20.01 }).total).toBe(4 / 6)
    expect(buy({ options: ['12 oz', 'blue'] }, { attributes: ['tea tree'] }).total).toBe(1)
    expect(buy({}, { attributes: ['no dyes'], options: [], priceLimit: 10 }).total).toBe(1 / 2)
  })

  it('a shade counts as its color, an option that was not wanted as nothing', () => {
    expect([normalizeColor('navy blue'), normalizeColor('12 oz')]).toEqual(['blue', '12 oz'])
    expect(buy({ options: ['dark red'] }, { options: ['dark wine'] }).options).toBe(1) // both are dark
    expect(buy({ options: ['8 oz', 'red', 'x-large'] }).options).toBe(0)
    expect(buy({ options: ['oz'] }, { options: ['12 oz', '8 oz'] }).options).toBe(2) // a part of both
  })

  describe('is multiplied by the kind of thing', () => {
    const other = (given: Partial<Product>) => buy({ product: { ...shampoo, ...given } }).type
    const far = { query: 'lamps', productCategory: 'Home › Lamps' }

    it('1 for the same search, two categories in common, or a title like it', () => {
      expect(other({ productCategory: 'X', title: 'Alba Lamp Kit Box Cap Lid' })).toBe(1)
      expect(other({ query: 'lamps', productCategory: 'Hair Care › Beauty', title: 'Shampoo Kit Box Cap Lid' })).toBe(1)
      expect(other({ ...far, title: 'Corvo Shampoo Bar' })).toBe(1)
    })

    it('less where nothing says so, and where titles share little or nothing', () => {
      const wanted = (title: string) => ({ product: { ...shampoo, title } })
      const five = 'Alba Shampoo Bottle Pump Refill'
      expect(buy({ product: { ...shampoo, ...far, title: 'Bottle' } }, wanted(five)).type).toBe(0.5) // 1 of 5
      const eleven = 'Shampoo Bottle Pump Refill Kit Box Cap Lid Bag Pouch Sachet'
      expect(buy({ product: { ...shampoo, ...far, title: 'Bottle' } }, wanted(eleven)).type).toBe(0.1) // 1 of 11
      expect(buy({ product: { ...shampoo, title: 'Lamp' } }).type).toBe(0)
      expect(buy({ product: { ...shampoo, title: 'Lamp' } }).total).toBe(0)
      expect(buy({ product: { ...shampoo, ...far, title: 'Lamp' } }, wanted('2 + 3')).type).toBe(0.5) // no nouns: 0.2
      expect(buy({}, wanted('2 + 3')).type).toBe(1)
    })
  })
})

it('tokenSetRatio is that of thefuzz', () => {
  const golden: [string, string, number][] = JSON.parse(
    readFileSync(new URL('./golden-thefuzz.json', import.meta.url), 'utf8'),
  )
  expect(golden.map(([a, b]) => [a, b, tokenSetRatio(a, b)])).toEqual(golden)
})

describe('titleNouns', () => {
  // what spaCy's tagger gives for these titles, by the tests of the original
  it.each([
    [
      'adidas Unisex-Adult D.o.n. Issue 2 Basketball Shoe',
      'adidas Unisex-Adult D.o.n. Issue 2 Indoor Court Shoe',
      6 / 7,
    ],
    ['UL Listed 2 Prong Power Cord for JBL Bar 3.1 Bar 2.1', 'AC Power Cord Cable Plug Lead for DVD/VCR Combo', 2 / 7],
  ])('%s', (wanted, bought, overlap) => {
    const nouns = titleNouns(wanted)
    const others = new Set(titleNouns(bought))
    expect(new Set(nouns.filter((noun) => others.has(noun))).size / nouns.length).toBeCloseTo(overlap, 10)
  })

  it('are not numbers, words of grammar or adjectives', () => {
    expect(titleNouns("Women's Adjustable 12oz Bottle (Pack of 2), Printed, for the Car & Home-Office")).toEqual(
      'women bottle pack car home office'.split(' '),
    )
    expect(titleNouns('')).toEqual([])
    expect(titleNouns('Speed Bed Vegetable Cable')).toEqual(['speed', 'bed', 'vegetable', 'cable'])
  })
})
