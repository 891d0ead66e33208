import { floatText, jsonText } from '../python-text.js'
import { type Product, priceTag } from './catalogue/product.js'
import type { Reward } from './reward/reward.js'

/** Products on a page of results. */
export const PER_PAGE = 10

export const BACK = 'Back to Search'
export const PREVIOUS = '< Prev'
export const NEXT = 'Next >'
export const BUY = 'Buy Now'
/** Pages behind a product's page. */
export const SUB_PAGES = ['Description', 'Features', 'Reviews', 'Attributes'] as const
export type SubPage = (typeof SUB_PAGES)[number]

/**
 * The pages of the shop as text. The original renders HTML and takes the texts out of it: each on a line of its own, what
 * can be clicked between markers. The result is the same, white space included.
 */
export function searchPage(instruction: string): string {
  return lines('WebShop', 'Instruction: ', instruction, button('Search'))
}

export interface ResultsPage {
  readonly instruction: string
  /** From 1. */
  readonly number: number
  /** Of all pages. */
  readonly total: number
  readonly products: readonly Product[]
  /** Those that were looked at since the last visit of the search bar. */
  readonly seen: ReadonlySet<string>
}

export function resultsPage({ instruction, number, total, products, seen }: ResultsPage): string {
  return (
    lines(...head(instruction, BACK), `Page ${number} (Total results: ${total})`) +
    lines(...(number > 1 ? [button(PREVIOUS)] : []), button(NEXT)) +
    products
      .map((product) => {
        const link = seen.has(product.asin) ? clicked(product.asin) : button(product.asin)
        return lines(`\n${link}`, product.title, priceTag(product))
      })
      .join('')
  )
}

export interface ItemPage {
  readonly instruction: string
  readonly product: Product
  /** The address of the page: what stands in it between quotation marks counts as chosen. */
  readonly address: string
  readonly showAttributes: boolean
}

export function itemPage({ instruction, product, address, showAttributes }: ItemPage): string {
  const isChosen = (value: string) => value !== '' && address.includes(`"${value}"`)
  const options = product.options.flatMap(([name, values]) => [
    name,
    ...values.filter(isShown).map((value) => `  ${isChosen(value) ? clicked(value) : button(value)}`),
  ])
  const chosen = product.options.flatMap(([, values]) => values.filter(isChosen))
  const subPages = SUB_PAGES.filter((page) => page !== 'Attributes' || showAttributes)
  return (
    chosen
      .reverse()
      .map((value) => `You have clicked ${value}.\n`)
      .join('') +
    lines(...head(instruction, BACK, PREVIOUS), ...options, product.title) +
    lines(`Price: ${priceTag(product)}`, `Rating: ${product.rating}`, ...subPages.map(button), button(BUY))
  )
}

export function subPage(page: SubPage, instruction: string, product: Product): string {
  return lines(...head(instruction, BACK, PREVIOUS), ...details(page, product))
}

function details(page: SubPage, product: Product): string[] {
  switch (page) {
    case 'Description':
      return [product.description]
    case 'Features':
      return product.bullets.map((bullet) => ` ${bullet}`)
    case 'Reviews':
      return product.reviews.flatMap(({ title, score, body }) => [`"${title}"`, score, body])
    case 'Attributes': {
      const { attributes, category, query, productCategory } = product
      return [...attributes.map((attribute) => ` ${attribute}`), category, query, productCategory]
    }
  }
}

/** The thanks, with the parts that the original hides from people but not from programs. */
export function donePage(asin: string, options: Iterable<readonly [string, string]>, { total }: Reward): string {
  const sorted = [...options].sort(([a], [b]) => (a < b ? -1 : 1))
  const chosen = jsonText(sorted).replace(/[<>&']/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`)
  return lines(
    ...['Thank you for shopping with us!', 'Your code: ', 'None', ' (Paste it in your MTurk interface.)'],
    ...['Purchased', 'asin', asin, 'options', chosen, 'attrs', 'None', 'category', 'None', 'query', 'None'],
    ...['product category', 'None', 'Target', 'asin', 'options', 'attrs', 'price upper', 'instuction text', 'category'],
    ...['product category', 'query', 'Goal ', 'None', 'Reward', 'Your score (min 0.0, max 1.0)', floatText(total)],
    ...['Reward Details ', 'None'],
  )
}

function head(instruction: string, ...buttons: string[]): string[] {
  return ['Instruction:', instruction, ...buttons.map(button)]
}

function button(name: string): string {
  return `[button] ${name} [button_]`
}

function clicked(name: string): string {
  return `[clicked button] ${name} [clicked button_]`
}

/** Texts of a page, one below the other; those that hold nothing but line breaks are none. */
function lines(...texts: string[]): string {
  return texts
    .filter(isShown)
    .map((text) => `${/^[ \t\f\r]+$/.test(text) ? ' ' : text}\n`)
    .join('')
}

function isShown(text: string): boolean {
  return !/^[ \t\f\r\n]*$/.test(text) || (text !== '' && !text.includes('\n'))
}
