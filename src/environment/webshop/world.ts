import type { Environment, EpisodeSpec, Start, Transition } from '../environment.js'
import { rowError } from '../row.js'
import { clickOn, readAction } from './action.js'
import { Session, type Visit } from './session.js'
import type { Shop } from './shop.js'

export interface WorldArgs {
  readonly show_attrs: boolean
  readonly invalid_reward: number
  readonly unfinished_reward: number | null
}

/** Columns in which a row may say its session. */
const COLUMNS = ['session_id', 'task_id', 'task_desc', 'id']

/** A visit of the shop for one goal: find it, choose its options, buy it. */
export class WebShop implements Environment {
  readonly #shop: Shop
  readonly #session: Session
  readonly #args: WorldArgs
  /** Set by `reset`, which comes before everything else. */
  #visit!: Visit

  constructor(shop: Shop, args: WorldArgs) {
    this.#shop = shop
    this.#session = new Session(shop, args.show_attrs)
    this.#args = args
  }

  reset(episode: EpisodeSpec): Start {
    const goal = this.#shop.goals.goal(sessionOf(episode, this.#shop.goals.count))
    this.#visit = this.#session.begin(goal)
    return { observation: this.#session.show(this.#visit), goal: goal.instruction }
  }

  step(text: string): Transition {
    const action = readAction(text, this.#session.controls(this.#visit))
    if (action.kind === 'invalid') return refusal(action.why, this.#args)
    this.#visit = this.#session.next(this.#visit, action)
    const observation = this.#session.show(this.#visit)
    const { reward } = this.#visit
    if (reward) {
      const { total, type } = reward
      const metrics = { valid_action: 1, 'purchase:sum': 1, 'type_reward:last': type }
      return { observation, reward: total, done: true, score: total, won: total >= 1, metrics }
    }
    const score = this.#args.unfinished_reward ?? 0
    return { observation, reward: 0, done: false, score, metrics: { valid_action: 1 } }
  }

  /** Undefined where there is a search bar: it takes any text. */
  admissible(): readonly string[] | undefined {
    const { hasSearchBar, clickables } = this.#session.controls(this.#visit)
    return hasSearchBar ? undefined : clickables.flatMap((name) => clickOn(name) ?? [])
  }

  snapshot(): Visit {
    return this.#visit
  }

  restore(snapshot: unknown): void {
    this.#visit = snapshot as Visit
  }
}

/** What is no action of the page: it costs, and the page stays. */
export function refusal(why: string, { invalid_reward, unfinished_reward }: Omit<WorldArgs, 'show_attrs'>): Transition {
  const score = unfinished_reward ?? invalid_reward
  return { observation: why, reward: invalid_reward, done: false, score, metrics: { valid_action: 0 } }
}

/** The goal that a row names: by the text of the task, or by a column; without one, the seed chooses. */
function sessionOf({ text, row, seed }: EpisodeSpec, count: number): number {
  const told = numberOf(text)
  if (told !== undefined) return told
  const column = COLUMNS.find((name) => row[name] !== undefined && row[name] !== null)
  if (column === undefined) return count > 0 ? seed % count : 0
  const number = numberOf(row[column])
  if (number === undefined) throw rowError('webshop', column, 'expected the number of a session', row[column])
  return number
}

function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isInteger(value)) return value
  return typeof value === 'string' && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : undefined
}
