import { jsonText } from '../python-text.js'
import type { Action, Controls } from './action.js'
import type { Goal } from './goals.js'
import {
  BACK,
  BUY,
  donePage,
  itemPage,
  NEXT,
  PREVIOUS,
  resultsPage,
  SUB_PAGES,
  type SubPage,
  searchPage,
  subPage,
} from './page.js'
import type { Reward } from './reward/reward.js'
import type { Shop } from './shop.js'

/** Where a visit of the shop stands. Nothing in it is ever changed: it is its own snapshot. */
export interface Visit {
  readonly goal: Goal
  readonly at: 'search' | 'results' | 'item' | SubPage | 'done'
  /** The words of the search. */
  readonly query: string
  /** Of the results, from 1. */
  readonly page: number
  /** The number of the product that is looked at. */
  readonly product: number
  /** What was chosen of its options. */
  readonly options: ReadonlyMap<string, string>
  /** Products that were looked at since the last visit of the search bar. */
  readonly seen: ReadonlySet<string>
  readonly reward?: Reward
}

const NONE: ReadonlyMap<string, string> = new Map()

/** The rules of the shop: what a page shows, what can be done on it, and where that leads. */
export class Session {
  readonly #shop: Shop
  readonly #showAttributes: boolean

  constructor(shop: Shop, showAttributes: boolean) {
    this.#shop = shop
    this.#showAttributes = showAttributes
  }

  begin(goal: Goal): Visit {
    return { goal, at: 'search', query: '', page: 1, product: -1, options: NONE, seen: new Set() }
  }

  controls({ at, query, page, product }: Visit): Controls {
    switch (at) {
      case 'search':
        return { hasSearchBar: true, clickables: ['search'] }
      case 'results': {
        const found = this.#shop.findPage(query, page).map((number) => this.#shop.catalogue.product(number).asin)
        return clickables([BACK, ...(page > 1 ? [PREVIOUS] : []), NEXT, ...found])
      }
      case 'item': {
        const values = this.#shop.catalogue.product(product).options.flatMap(([, all]) => all)
        return clickables([BACK, PREVIOUS, ...this.#subPages(), BUY, ...values])
      }
      case 'done':
        return clickables([])
      default:
        return clickables([BACK, PREVIOUS])
    }
  }

  show(visit: Visit): string {
    const { goal, at, query, page, product, options, seen, reward } = visit
    const { instruction } = goal
    const { catalogue } = this.#shop
    switch (at) {
      case 'search':
        return searchPage(instruction)
      case 'results': {
        const total = this.#shop.find(query).length
        const products = this.#shop.findPage(query, page).map((number) => catalogue.product(number))
        return resultsPage({ instruction, number: page, total, products, seen })
      }
      case 'item': {
        const address = addressOf(visit, catalogue.product(product).asin)
        const showAttributes = this.#showAttributes
        return itemPage({ instruction, product: catalogue.product(product), address, showAttributes })
      }
      case 'done':
        return donePage(catalogue.product(product).asin, options, reward as Reward)
      default:
        return subPage(at, instruction, catalogue.product(product))
    }
  }

  /** `action`: one that the page allows. */
  next(visit: Visit, action: Exclude<Action, { kind: 'invalid' }>): Visit {
    if (action.kind === 'search') return { ...visit, at: 'results', query: action.query, page: 1, options: NONE }
    const { name } = action
    if (visit.at === 'search') return visit
    if (name === BACK.toLowerCase()) return this.begin(visit.goal)
    return visit.at === 'results' ? this.#fromResults(visit, name) : this.#fromProduct(visit, name)
  }

  #fromResults(visit: Visit, name: string): Visit {
    const { page, query, seen } = visit
    if (name === NEXT.toLowerCase()) return { ...visit, page: page + 1 }
    if (name === PREVIOUS.toLowerCase()) return { ...visit, page: page - 1 }
    const { catalogue } = this.#shop
    const product = this.#shop
      .findPage(query, page)
      .find((number) => catalogue.product(number).asin.toLowerCase() === name)
    if (product === undefined) return visit
    return { ...visit, at: 'item', product, options: NONE, seen: new Set([...seen, catalogue.product(product).asin]) }
  }

  /** From the page of a product, or one behind it. */
  #fromProduct(visit: Visit, name: string): Visit {
    const { at, product, options, goal } = visit
    if (name === PREVIOUS.toLowerCase()) {
      return at === 'item' ? { ...visit, at: 'results', options: NONE } : { ...visit, at: 'item' }
    }
    if (name === BUY.toLowerCase()) {
      return { ...visit, at: 'done', reward: this.#shop.buy(product, [...options.values()], goal) }
    }
    const behind = this.#subPages().find((page) => page.toLowerCase() === name)
    if (behind) return { ...visit, at: behind }
    // A value that two options have belongs to the last of them.
    const all = this.#shop.catalogue.product(product).options
    const option = all.findLast(([, values]) => values.some((value) => value.toLowerCase() === name))?.[0]
    return option === undefined ? visit : { ...visit, options: new Map([...options, [option, name]]) }
  }

  #subPages(): SubPage[] {
    return SUB_PAGES.filter((page) => page !== 'Attributes' || this.#showAttributes)
  }
}

function clickables(names: readonly string[]): Controls {
  return { hasSearchBar: false, clickables: [...new Set(names.map((name) => name.toLowerCase()))] }
}

/** The address of a product's page in the original, from the asin on. */
function addressOf({ query, page, options }: Visit, asin: string): string {
  return `${asin}/${query.replaceAll(' ', '+')}/${page}/${jsonText(options)}`
}
