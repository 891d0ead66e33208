import type { Logger } from '../../base/log/logger.js'
import type { Catalogue } from './catalogue/catalogue.js'
import { openCatalogue } from './catalogue/open.js'
import { type Goal, type GoalKind, Goals } from './goals.js'
import { PER_PAGE } from './page.js'
import { Recent } from './recent.js'
import { type Purchase, type Reward, rewardOf } from './reward/reward.js'
import { Searcher } from './search/search.js'

/** Products that a search finds at most. */
const FOUND = 50
/** Searches whose results are kept ready: rollouts of one task ask alike, and every page of results asks again. */
const READY = 2000

export interface ShopArgs {
  readonly data?: string
  readonly num_products: number | null
  readonly human_goals: boolean
  readonly seed: number
}

/** A shop: what is in it, what is wanted of it, and what is found. All episodes of a process share it. */
export class Shop {
  readonly catalogue: Catalogue
  readonly goals: Goals
  readonly #searcher: Searcher
  readonly #found = new Recent<string, readonly number[]>(READY)

  constructor(catalogue: Catalogue, kind: GoalKind, seed: number) {
    this.catalogue = catalogue
    this.goals = new Goals(catalogue, kind, seed)
    this.#searcher = new Searcher(catalogue)
  }

  /** Numbers of products, the best first. */
  find(query: string): readonly number[] {
    return this.#found.get(query, () => this.#searcher.search(query, FOUND).map(({ document }) => document))
  }

  /** A page of them, from 1. */
  findPage(query: string, page: number): readonly number[] {
    return this.find(query).slice((page - 1) * PER_PAGE, page * PER_PAGE)
  }

  buy(product: number, options: readonly string[], goal: Goal): Reward {
    const purchase: Purchase = { product: this.catalogue.product(product), price: this.goals.price(product), options }
    return rewardOf(purchase, goal)
  }
}

/** Shops that are open, by what they were asked for. They stay open: the next episode wants the same one. */
const shops = new Map<string, Promise<Shop>>()

export function openShop(args: ShopArgs, logger?: Logger): Promise<Shop> {
  const { data = process.env.WEBSHOP_PATH, num_products, human_goals, seed } = args
  const key = JSON.stringify([data, num_products, human_goals, seed])
  let shop = shops.get(key)
  if (!shop) {
    shop = openCatalogue(data, num_products, logger).then(
      (catalogue) => new Shop(catalogue, human_goals ? 'human' : 'synthetic', seed),
    )
    shops.set(key, shop)
    // What failed is tried again: the files may be there next time.
    shop.catch(() => shops.delete(key))
  }
  return shop
}
