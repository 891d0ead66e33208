import type { Logger } from '../../base/log/logger.js'
import type { Environment, EpisodeSpec, Start, Transition } from '../environment.js'
import { rowError } from '../row.js'
import { type Result, SqlDatabase } from './database/database.js'
import { type Rows, resultReward, resultText, rowText } from './rows.js'
import { type TaskPlaces, taskOf } from './task.js'

/** Characters of a result that are shown. */
const SHOWN = 4000

export interface WorldArgs extends TaskPlaces {
  readonly auto_submit: boolean
  readonly verbose: boolean
}

/** What an episode has done so far. `last`: the result of its last statement, absent where that gave none. */
interface State {
  readonly journal: readonly string[]
  readonly last: Rows | undefined
  readonly observation: string
}

/** A question about a database: any number of statements, then `submit`, which hands in the last result. */
export class InterCodeSql implements Environment {
  readonly #args: WorldArgs
  readonly #logger: Logger | undefined
  #db: SqlDatabase | undefined
  #gold: Rows = []
  #last: Rows | undefined
  #observation = ''

  constructor(args: WorldArgs, logger?: Logger) {
    this.#args = args
    this.#logger = logger
  }

  async reset(episode: EpisodeSpec, signal?: AbortSignal): Promise<Start> {
    const { query, gold, base } = await taskOf(episode, this.#args)
    this.#db = new SqlDatabase(base)
    // Before anybody has changed the tables: who deletes them must not be right.
    const result = await new SqlDatabase(base).run(gold, signal)
    if ('error' in result) throw rowError('intercode_sql', 'gold', `the query fails: ${result.error}`, gold)
    this.#gold = textsOf(result) ?? []
    this.#last = undefined
    this.#observation = 'None'
    return { observation: this.#observation, goal: `Question: ${query}\nDatabase: ${base.name}` }
  }

  async step(action: string, signal?: AbortSignal): Promise<Transition> {
    if (/^\s*submit\s*;?\s*$/i.test(action)) return this.#submit()
    const result = await (this.#db as SqlDatabase).run(action, signal)
    const failed = 'error' in result
    this.#last = textsOf(result)
    this.#observation = failed
      ? `Error executing query: ${result.error}`
      : this.#last === undefined
        ? 'None'
        : resultText(this.#last, SHOWN)
    this.#tell(action)
    const score = this.#args.auto_submit ? this.#worth() : 0
    return { observation: this.#observation, reward: 0, done: false, score, metrics: { valid_action: failed ? 0 : 1 } }
  }

  #submit(): Transition {
    const reward = this.#worth()
    this.#tell(`submit (${reward})`)
    const metrics = { valid_action: 1 }
    return { observation: this.#observation, reward, score: reward, done: true, won: reward >= 1, metrics }
  }

  /** What the last result is worth. */
  #worth(): number {
    return this.#last === undefined ? 0 : resultReward(this.#last, this.#gold)
  }

  #tell(action: string): void {
    if (this.#args.verbose) this.#logger?.info(`intercode_sql: ${action} → ${this.#observation}`)
  }

  snapshot(): State {
    return { journal: this.#db?.journal ?? [], last: this.#last, observation: this.#observation }
  }

  restore(snapshot: unknown): void {
    const { journal, last, observation } = snapshot as State
    if (this.#db) this.#db.journal = journal
    this.#last = last
    this.#observation = observation
  }
}

function textsOf(result: Result): Rows | undefined {
  return 'error' in result ? undefined : result.rows?.map(rowText)
}
