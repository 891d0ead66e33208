import type { Game } from '../game.js'
import type { State } from '../pddl/state.js'
import type { Table } from '../pddl/table.js'

/** What somebody who knows everything sees in a state. */
export class House {
  readonly #game: Game
  readonly #state: State

  constructor(game: Game, state: State) {
    this.#game = game
    this.#state = state
  }

  get here(): number {
    return this.#facts('atlocation').rows[0]?.[1] ?? -1
  }

  get held(): number | undefined {
    return this.#facts('holds').rows[0]?.[1]
  }

  has(predicate: string, object: number): boolean {
    return this.#facts(predicate).has([object])
  }

  objectsOf(type: string): number[] {
    return this.#subjects('objecttype', type)
  }

  receptaclesOf(type: string): number[] {
    return this.#subjects('receptacletype', type).filter((one) => this.location(one) !== undefined)
  }

  location(receptacle: number): number | undefined {
    return this.#facts('receptacleatlocation').where(0, receptacle)[0]?.[1]
  }

  isClosed(receptacle: number): boolean {
    return this.has('openable', receptacle) && !this.has('opened', receptacle)
  }

  isIn(object: number, receptacle: number): boolean {
    return this.#facts('inreceptacle').has([object, receptacle])
  }

  /** Where it can be reached. */
  holders(object: number): number[] {
    const rows = this.#facts('inreceptacle').where(0, object)
    return rows.map(([, receptacle]) => receptacle).filter((one) => this.location(one) !== undefined)
  }

  /** Receptacles that take it. */
  takers(object: number): number[] {
    const kinds = this.#facts('objecttype').where(0, object)
    const types = new Set(
      kinds.flatMap(([, kind]) =>
        this.#facts('cancontain')
          .where(1, kind)
          .map(([type]) => type),
      ),
    )
    const all = this.#facts('receptacleatlocation').rows.map(([receptacle]) => receptacle)
    return all.filter((one) =>
      this.#facts('receptacletype')
        .where(0, one)
        .some(([, type]) => types.has(type)),
    )
  }

  #subjects(predicate: string, type: string): number[] {
    const kind = this.#game.scope.object(type)
    return this.#facts(predicate)
      .where(1, kind)
      .map(([subject]) => subject)
  }

  #facts(predicate: string): Table {
    return this.#state.truth[this.#game.scope.predicate(predicate)]
  }
}
