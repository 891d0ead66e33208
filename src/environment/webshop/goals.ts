import { TrinityError } from '../../base/error.js'
import { PythonRandom } from '../../base/random/index.js'
import type { Catalogue, GoalCount } from './catalogue/catalogue.js'
import type { Product } from './catalogue/product.js'

/** What is to be bought. */
export interface Goal {
  /** Its number: the session of the original. */
  readonly session: number
  readonly product: Product
  readonly instruction: string
  readonly attributes: readonly string[]
  readonly options: readonly string[]
  readonly priceLimit: number
}

/** By people, or made from attributes. */
export type GoalKind = 'human' | 'synthetic'

/** The order of goals has always been drawn with this seed, so that a number means the same goal everywhere. */
const ORDER_SEED = 233
/** Limits are multiples of ten below a thousand. */
const LIMITS = Array.from({ length: 99 }, (_, i) => 10 * (i + 1))
const NO_LIMIT = 1_000_000

/**
 * The goals of a catalogue by number. Prices and limits are drawn in the order of the original, as a Python program draws
 * them that calls `random.seed(seed)` first; goals are then made when they are asked for.
 */
export class Goals {
  readonly count: number
  readonly #catalogue: Catalogue
  readonly #kind: GoalKind
  readonly #prices: ReadonlyMap<number, number>
  readonly #sources: readonly GoalCount[]
  /** By source: the number of its first goal, in the order of the catalogue. */
  readonly #firsts: Float64Array
  /** Each goal of people has a limit of its own; all that are made from one product share one. */
  readonly #limits: Uint16Array
  readonly #order: Uint32Array

  constructor(catalogue: Catalogue, kind: GoalKind, seed: number) {
    this.#catalogue = catalogue
    this.#kind = kind
    const random = new PythonRandom(seed)
    const ranges = catalogue.priceRanges()
    this.#prices = new Map(ranges.map(({ product, low, high }) => [product, random.uniform(low, high)]))
    this.#sources = catalogue.goals(kind)
    this.#firsts = new Float64Array(this.#sources.length)
    let count = 0
    for (const [i, source] of this.#sources.entries()) {
      this.#firsts[i] = count
      count += source.count
    }
    this.count = count
    this.#limits = Uint16Array.from(this.#priced(), (price) => drawLimit(random, price))
    this.#order = Uint32Array.from({ length: count }, (_, i) => i)
    new PythonRandom(ORDER_SEED).shuffle(this.#order)
  }

  /** What a product costs in this shop. */
  price(product: number): number {
    return this.#prices.get(product) ?? this.#catalogue.product(product).pricing[0]
  }

  /** The number of the product that a session wants. */
  product(session: number): number {
    return this.#sources[lastAtMost(this.#firsts, this.#order[session])].product
  }

  goal(session: number): Goal {
    if (!Number.isInteger(session) || session < 0 || session >= this.count) {
      throw new TrinityError('environment/row', `webshop: there is no session ${session} among ${this.count} goals`, {
        path: 'session_id',
        hint: this.count > 0 ? `sessions go from 0 to ${this.count - 1}` : this.#whyNone(),
      })
    }
    const number = this.#order[session]
    const at = lastAtMost(this.#firsts, number)
    const product = this.#catalogue.product(this.#sources[at].product)
    const human = this.#kind === 'human'
    const wish = human ? product.wishes[number - this.#firsts[at]] : madeWish(product, number - this.#firsts[at])
    const limit = this.#limits[human ? number : at]
    const text = limit === 0 ? '' : `, and price lower than ${limit.toFixed(2)} dollars`
    const { attributes, options } = wish
    const priceLimit = limit === 0 ? NO_LIMIT : limit
    return { session, product, instruction: wish.instruction + text, attributes, options, priceLimit }
  }

  /** The prices for which limits are drawn, in their order. */
  *#priced(): Iterable<number> {
    for (const { product, count, price } of this.#sources) {
      const times = this.#kind === 'human' ? count : 1
      for (let i = 0; i < times; i++) yield this.#prices.get(product) ?? price
    }
  }

  #whyNone(): string {
    return this.#kind === 'human'
      ? 'instructions by people are in items_human_ins.json; human_goals: false takes made ones'
      : 'made instructions are in items_ins_v2.json or items_ins_v2_1000.json'
  }
}

/** The larger one of two of the next four multiples of ten above the price; 0: there are not that many. */
function drawLimit(random: PythonRandom, price: number): number {
  const above = LIMITS.filter((limit) => limit > price).slice(0, 4)
  return above.length < 2 ? 0 : Math.max(...random.sample(above, 2))
}

/** One choice of options, the last option changing first. */
function madeWish({ options, synthetic }: Product, choice: number) {
  const { instruction = '', attributes = [] } = synthetic ?? {}
  const named = [...options].sort(([a], [b]) => (a < b ? -1 : 1))
  const chosen: (readonly [string, string])[] = []
  let rest = choice
  for (const [name, values] of named.reverse()) {
    chosen.unshift([name, values[rest % values.length]])
    rest = Math.floor(rest / values.length)
  }
  const text = chosen.map(([name, value]) => `${name}: ${value}`).join(', and ')
  const whole = text === '' ? instruction : `${instruction} with ${text}`
  return { instruction: whole, attributes, options: chosen.map(([, value]) => value) }
}

/** The last place whose value is not above this one. */
function lastAtMost(values: Float64Array, value: number): number {
  let low = 0
  let high = values.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (values[middle] <= value) low = middle
    else high = middle - 1
  }
  return low
}
