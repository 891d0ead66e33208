import { TrinityError } from '../../../base/error.js'
import { isJsonObject, type JsonObject } from '../../../base/file/json-file.js'
import type { DataRow } from '../../../task/index.js'
import { floatText } from '../../python-text.js'

/** What a person wants of a product: an instruction in words, and what counts. */
export interface Wish {
  readonly instruction: string
  readonly attributes: readonly string[]
  readonly options: readonly string[]
}

/** A product of the shop, as pages, search, goals and rewards need it. */
export interface Product {
  readonly asin: string
  readonly title: string
  readonly description: string
  readonly bullets: readonly string[]
  /** One price, or from the one to the other. */
  readonly pricing: readonly number[]
  readonly options: readonly (readonly [name: string, values: readonly string[]])[]
  readonly attributes: readonly string[]
  readonly category: string
  readonly query: string
  /** `Beauty › Hair Care › Shampoos` */
  readonly productCategory: string
  readonly rating: string
  readonly reviews: readonly Review[]
  /** Written by people. */
  readonly wishes: readonly Wish[]
  /** Made from the attributes; every choice of options is a goal of its own. */
  readonly synthetic?: Pick<Wish, 'instruction' | 'attributes'>
}

export interface Review {
  readonly title: string
  readonly score: string
  readonly body: string
}

/** What other files of the original say about products, by asin. */
export interface Annotations {
  /** `items_ins_v2*.json`: attributes and synthetic instructions. */
  readonly attributes?: JsonObject
  /** `items_human_ins.json`: instructions by people. */
  readonly human?: JsonObject
}

/** The price of products that have none. */
const UNPRICED = 100

/**
 * Reads a record: an item as it was scraped (`items_shuffle*.json`), or a document of the original's search engine
 * (`documents*.jsonl`), which holds the same item prepared. Undefined: the original leaves it out.
 */
export function productOf(record: DataRow, annotations: Annotations): Product | undefined {
  const item = isJsonObject(record.product) ? record.product : record
  const asin = text(item.asin)
  if (asin === '') throw new Malformed("it has no 'asin'")
  if (asin === 'nan' || asin.length > 10) return undefined
  const notes = objectAt(annotations.attributes, asin)
  const bullets = item.BulletPoints ?? item.small_description
  return {
    asin,
    title: text(item.Title ?? item.name),
    description: text(item.Description ?? item.full_description),
    bullets: Array.isArray(bullets) ? bullets.map(text) : [text(bullets)],
    pricing: pricingOf(item.pricing),
    options: isJsonObject(item.options) ? preparedOptions(item.options) : scrapedOptions(item.customization_options),
    attributes: texts(notes?.attributes) ?? texts(item.Attributes) ?? ['DUMMY_ATTR'],
    category: text(item.category),
    query: text(item.query).toLowerCase().trim(),
    productCategory: text(item.product_category),
    rating: text(item.Rating) || 'N.A.',
    reviews: listOf(item.Reviews).map(reviewOf),
    wishes: listOf(annotations.human?.[asin] ?? item.instructions).flatMap(wishOf),
    synthetic: syntheticOf(notes ?? {}),
  }
}

/** What is wrong with a record; whoever reads it knows where it stands. */
export class Malformed extends Error {}

export function malformed(error: unknown, path: string): unknown {
  if (!(error instanceof Malformed)) return error
  return new TrinityError('environment/data', `not a product of WebShop: ${error.message}`, {
    path,
    hint: 'docs/webshop.md names the files; copy or download this one again',
  })
}

/** `$12.99`, `$5.99 - $10.99`, or numbers. */
function pricingOf(value: unknown): number[] {
  const prices = Array.isArray(value)
    ? value.map((price) => Number(typeof price === 'object' ? text(price) : price))
    : text(value)
        .split('$')
        .slice(1)
        .map((price) => Number(price.replace(/[^\d.]/g, '') || Number.NaN))
  const odd = prices.findIndex((price) => !Number.isFinite(price))
  if (odd >= 0) throw new Malformed(`it has the price ${JSON.stringify(value)}`)
  return prices.length > 0 ? prices.slice(0, 2) : [UNPRICED]
}

/** As pages show it. */
export function priceTag({ pricing }: Product): string {
  return pricing.map((price) => `$${floatText(price)}`).join(' to ')
}

function preparedOptions(options: JsonObject): [string, string[]][] {
  return Object.entries(options).map(([name, values]) => [name, texts(values) ?? []])
}

function scrapedOptions(customization: unknown): [string, string[]][] {
  const options = new Map<string, string[]>()
  for (const [name, choices] of Object.entries(isJsonObject(customization) ? customization : {})) {
    if (!Array.isArray(choices)) continue
    const values = choices.map((choice) => text(isJsonObject(choice) ? choice.value : choice))
    options.set(
      name.toLowerCase(),
      values.map((value) => value.trim().replaceAll('/', ' | ').toLowerCase()),
    )
  }
  return [...options]
}

function wishOf(value: unknown): Wish[] {
  if (!isJsonObject(value)) return []
  const attributes = texts(value.instruction_attributes) ?? []
  if (attributes.length === 0) return []
  const { instruction_options: options } = value
  return [
    {
      instruction: text(value.instruction).replace(/^\.+|\.+$/g, ''),
      attributes,
      options: texts(isJsonObject(options) ? Object.values(options) : options) ?? [],
    },
  ]
}

function syntheticOf(notes: JsonObject): Product['synthetic'] {
  const attributes = texts(notes.instruction_attributes) ?? []
  if (typeof notes.instruction !== 'string' || attributes.length === 0) return undefined
  return { instruction: notes.instruction, attributes }
}

function reviewOf(value: unknown): Review {
  const review = isJsonObject(value) ? value : {}
  return {
    title: text(review.title),
    score: text(review.score ?? review.stars),
    body: text(review.body ?? review.review),
  }
}

function text(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(text).join(',')
  // An object may bring a `toString` of its own that is no function.
  if (isJsonObject(value)) return JSON.stringify(value)
  return value === null || value === undefined ? '' : String(value)
}

function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.map(text) : undefined
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function objectAt(object: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = object && Object.hasOwn(object, key) ? object[key] : undefined
  return isJsonObject(value) ? value : undefined
}

/** What is searched: title, description, first bullet and options, in small letters. */
export function searchText({ title, description, bullets, options }: Product): string {
  const choices = options.map(([name, values]) => `${name}: ${values.join(', ')}`).join(', and ')
  return [title, description, bullets[0] ?? '', choices].join(' ').toLowerCase()
}
