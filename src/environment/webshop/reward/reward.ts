import type { Product } from '../catalogue/product.js'
import type { Goal } from '../goals.js'
import { normalizeColor } from './colors.js'
import { titleNouns } from './title-nouns.js'
import { tokenSetRatio } from './token-set-ratio.js'

/** What was bought. */
export interface Purchase {
  readonly product: Product
  readonly price: number
  /** Values of the options that were chosen. */
  readonly options: readonly string[]
}

/** What a purchase is worth, and why. */
export interface Reward {
  /** From 0 to 1. */
  readonly total: number
  /** Is it the kind of thing that was wanted? 1, 0.5, 0.1 or 0. */
  readonly type: number
  /** How many of the wanted attributes and options it has. */
  readonly attributes: number
  readonly options: number
  /** Is it cheap enough? */
  readonly price: boolean
}

/** Texts are alike from here on, of 100. */
const ALIKE = 85

/** r_type · (attributes + options + price that fit) / (attributes + options + 1) */
export function rewardOf(purchase: Purchase, goal: Goal): Reward {
  const type = typeReward(purchase.product, goal.product)
  const attributes = goal.attributes.filter((wanted) => hasAttribute(purchase.product, wanted)).length
  const options = matchingOptions(purchase.options, goal.options)
  const price = purchase.price <= goal.priceLimit
  const fits = attributes + options + (price ? 1 : 0)
  const total = (fits / (goal.attributes.length + goal.options.length + 1)) * type
  return { total, type, attributes, options, price }
}

/** Categories that two products must share to be of one kind. */
const SHARED_CATEGORIES = 2

function typeReward(bought: Product, wanted: Product): number {
  const nouns = titleNouns(wanted.title)
  const boughtNouns = new Set(titleNouns(bought.title))
  const shared = new Set(nouns.filter((noun) => boughtNouns.has(noun))).size
  const overlap = nouns.length === 0 ? 0.2 : shared / nouns.length
  if (overlap === 0) return 0
  if (overlap < 0.1) return 0.1
  const isKind = bought.query === wanted.query || sharedCategories(bought, wanted) >= SHARED_CATEGORIES
  return isKind || overlap > 0.2 ? 1 : 0.5
}

function sharedCategories(bought: Product, wanted: Product): number {
  const wantedOnes = new Set(categories(wanted))
  return new Set(categories(bought).filter((one) => wantedOnes.has(one))).size
}

function categories({ productCategory }: Product): string[] {
  return productCategory.split('›').map((one) => one.trim())
}

/** Among its attributes, or in its texts. */
function hasAttribute({ attributes, title, bullets, description }: Product, wanted: string): boolean {
  if (attributes.some((attribute) => tokenSetRatio(attribute, wanted) > ALIKE)) return true
  return [title, bullets.join(' '), description].some((text) => text.toLowerCase().includes(wanted))
}

function matchingOptions(chosen: readonly string[], wanted: readonly string[]): number {
  const colors = chosen.map(normalizeColor)
  return wanted.map(normalizeColor).filter((one) => colors.some((color) => tokenSetRatio(color, one) > ALIKE)).length
}
