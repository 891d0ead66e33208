import { TrinityError } from '../../base/error.js'
import { Derivatives } from './derivative.js'
import { type Expression, type Expressions, NEVER } from './expression.js'

/** A state of the automaton; 0 is the one that nothing leads out of and nothing is accepted in. */
export type State = number
export const DEAD: State = 0

/** More states than any sensible pattern has: one that needs them would need them without end. */
const MOST_STATES = 50_000
/** States that are looked at to find out whether any text is left. */
const MOST_SEARCHED = 20_000

/** The deterministic automaton of all expressions, made state by state as it is walked. Every state but 0 can end. */
export class Automaton {
  readonly #all: Expressions
  readonly #derivatives: Derivatives
  readonly #expressions: Expression[] = [NEVER]
  readonly #states = new Map<Expression, State>([[NEVER, DEAD]])
  readonly #alive = new Map<Expression, boolean>()
  #table = new Int32Array(256 * 64)
  #flags = new Uint8Array(64)

  constructor(all: Expressions) {
    this.#all = all
    this.#derivatives = new Derivatives(all)
    this.#flags[DEAD] = KNOWN
  }

  state(expression: Expression): State {
    const known = this.#states.get(expression)
    if (known !== undefined) return known
    const state = this.isAlive(expression) ? this.#expressions.length : DEAD
    this.#states.set(expression, state)
    if (state === DEAD) return state
    if (state >= MOST_STATES) throw tooComplex()
    this.#expressions.push(expression)
    if (state >= this.#flags.length) this.#grow()
    if (this.#all.nullable(expression)) this.#flags[state] |= FINAL
    return state
  }

  expression(state: State): Expression {
    return this.#expressions[state]
  }

  next(state: State, byte: number): State {
    if ((this.#flags[state] & KNOWN) === 0) this.#fill(state)
    return this.#table[(state << 8) | byte]
  }

  /** A text may end here. */
  isFinal(state: State): boolean {
    return (this.#flags[state] & FINAL) !== 0
  }

  /** A text must end here. */
  isOver(state: State): boolean {
    if ((this.#flags[state] & KNOWN) === 0) this.#fill(state)
    return (this.#flags[state] & OPEN) === 0
  }

  /** Whether any text belongs to it. */
  isAlive(expression: Expression): boolean {
    if (this.#all.plain(expression)) return expression !== NEVER
    const known = this.#alive.get(expression)
    if (known !== undefined) return known
    const cameFrom = new Map<Expression, Expression>([[expression, expression]])
    const waiting = [expression]
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (this.#all.nullable(at) || this.#alive.get(at) || (this.#all.plain(at) && at !== NEVER)) {
        for (let back = at; ; back = cameFrom.get(back)!) {
          this.#alive.set(back, true)
          if (back === expression) return true
        }
      }
      if (cameFrom.size > MOST_SEARCHED) throw tooComplex()
      for (const byte of this.#derivatives.cuts(at)) {
        const next = this.#derivatives.of(at, byte)
        if (next === NEVER || cameFrom.has(next) || this.#alive.get(next) === false) continue
        cameFrom.set(next, at)
        waiting.push(next)
      }
    }
    for (const one of cameFrom.keys()) this.#alive.set(one, false)
    return false
  }

  #fill(state: State): void {
    const expression = this.#expressions[state]
    const cuts = this.#derivatives.cuts(expression)
    let open = 0
    for (let i = 0; i < cuts.length; i++) {
      const next = this.state(this.#derivatives.of(expression, cuts[i]))
      if (next !== DEAD) open = OPEN
      this.#table.fill(next, (state << 8) | cuts[i], (state << 8) + (cuts[i + 1] ?? 256))
    }
    this.#flags[state] |= KNOWN | open
  }

  #grow(): void {
    const table = new Int32Array(this.#table.length * 2)
    table.set(this.#table)
    this.#table = table
    const flags = new Uint8Array(this.#flags.length * 2)
    flags.set(this.#flags)
    this.#flags = flags
  }
}

const KNOWN = 1
const FINAL = 2
const OPEN = 4

function tooComplex(): TrinityError {
  return new TrinityError('grammar/too-complex', 'a pattern needs too many states to be followed token by token', {
    hint: 'simplify the pattern: counted parts behind a part that may be anything multiply',
  })
}
