import { TrinityError } from '../base/error.js'
import { type Grammar, NOTHING, type Part } from './grammar.js'
import { type Automaton, DEAD, type State } from './regular/automaton.js'

/** What is still to be written, outermost last, by its number; 0: nothing more. */
export type Stack = number
/** A place inside a regular part with what follows it. */
export type Thread = number
/** All places that a text may have come to; `NOWHERE`: it does not fit. */
export type Place = number
export const NOWHERE: Place = 0

/** The threads that a stack begins with, and whether the text may end before them. */
export interface Opening {
  readonly threads: readonly Thread[]
  readonly ends: boolean
}

/** Ways to read one text at once. Only a very ambiguous grammar has more. */
const MOST_THREADS = 4096
/** Stacks and places that are kept; then a machine begins anew. */
const MOST_KEPT = 200_000
/** Keys of pairs are a × PAIR + b. */
const PAIR = 2 ** 26

/**
 * Follows a text through a grammar, byte by byte: a pushdown automaton that keeps every way to read what was written so
 * far. Stacks and places are numbers that stay the same for the same content, so that whatever is found out about them
 * can be kept.
 */
export class Machine {
  readonly grammar: Grammar
  readonly start: Place
  readonly #automaton: Automaton
  readonly #stackPart: Part[] = [NOTHING]
  readonly #stackRest: Stack[] = [0]
  readonly #stacks = new Map<number, Stack>()
  readonly #openings: (Opening | undefined)[] = [{ threads: [], ends: true }]
  readonly #threadState: State[] = [DEAD]
  readonly #threadRest: Stack[] = [0]
  readonly #threads = new Map<number, Thread>()
  readonly #places: Opening[] = [{ threads: [], ends: false }]
  readonly #known = new Map<string, Place>()

  constructor(grammar: Grammar, root: Part) {
    this.grammar = grammar
    this.#automaton = grammar.automaton
    const { threads, ends } = this.opening(this.#push(root, 0))
    this.start = this.#place([...threads], ends)
  }

  /** It has seen so much that a new one is cheaper to keep. */
  get full(): boolean {
    return this.#places.length + this.#stackPart.length > MOST_KEPT
  }

  threads(place: Place): readonly Thread[] {
    return this.#places[place].threads
  }

  state(thread: Thread): State {
    return this.#threadState[thread]
  }

  rest(thread: Thread): Stack {
    return this.#threadRest[thread]
  }

  /** A text that has come here may end. */
  mayEnd(place: Place): boolean {
    const { threads, ends } = this.#places[place]
    return ends || threads.some((thread) => this.#isFinal(thread) && this.opening(this.#threadRest[thread]).ends)
  }

  next(place: Place, byte: number): Place {
    const automaton = this.#automaton
    const threads = new Set<Thread>()
    let ends = false
    const step = (thread: Thread) => {
      const state = automaton.next(this.#threadState[thread], byte)
      if (state === DEAD) return
      const rest = this.#threadRest[thread]
      if (!automaton.isOver(state)) {
        threads.add(this.#thread(state, rest))
        return
      }
      const opening = this.opening(rest)
      for (const one of opening.threads) threads.add(one)
      ends ||= opening.ends
    }
    for (const thread of this.#places[place].threads) {
      step(thread)
      if (this.#isFinal(thread)) for (const one of this.opening(this.#threadRest[thread]).threads) step(one)
    }
    return this.#place([...threads], ends)
  }

  /** Where the text leads from a place. */
  after(place: Place, bytes: ArrayLike<number>): Place {
    let at = place
    for (let i = 0; i < bytes.length && at !== NOWHERE; i++) at = this.next(at, bytes[i])
    return at
  }

  /** What a stack begins with. */
  opening(stack: Stack): Opening {
    const known = this.#openings[stack]
    if (known) return known
    const threads = new Set<Thread>()
    let ends = false
    const seen = new Set<Stack>()
    const waiting = [stack]
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (seen.has(at)) continue
      seen.add(at)
      if (at === 0) ends = true
      else this.#open(at, threads, waiting)
    }
    if (threads.size > MOST_THREADS) throw tooAmbiguous()
    const opening = { threads: [...threads], ends }
    this.#openings[stack] = opening
    return opening
  }

  #open(stack: Stack, threads: Set<Thread>, waiting: Stack[]): void {
    const { grammar } = this
    const [part, rest] = [this.#stackPart[stack], this.#stackRest[stack]]
    if (!grammar.possible(part)) return
    const form = grammar.form(part)
    switch (form.kind) {
      case 'regular': {
        const state = this.#automaton.state(form.expression)
        threads.add(this.#thread(state, rest))
        if (this.#automaton.isFinal(state)) waiting.push(rest)
        break
      }
      case 'seq':
        waiting.push(this.#push(form.first, this.#push(form.rest, rest)))
        break
      case 'alt':
        for (const one of form.parts) waiting.push(this.#push(one, rest))
        break
      case 'repeat': {
        const more = grammar.repeat(form.part, Math.max(0, form.min - 1), form.max - 1)
        if (form.min === 0) waiting.push(rest)
        waiting.push(this.#push(form.part, this.#push(more, rest)))
        break
      }
      case 'rule':
        waiting.push(this.#push(form.body!, rest))
        break
    }
  }

  #isFinal(thread: Thread): boolean {
    return this.#automaton.isFinal(this.#threadState[thread])
  }

  #push(part: Part, rest: Stack): Stack {
    if (part === NOTHING) return rest
    const key = part * PAIR + rest
    const known = this.#stacks.get(key)
    if (known !== undefined) return known
    this.#stackPart.push(part)
    this.#stackRest.push(rest)
    this.#stacks.set(key, this.#stackPart.length - 1)
    return this.#stackPart.length - 1
  }

  #thread(state: State, rest: Stack): Thread {
    const key = state * PAIR + rest
    const known = this.#threads.get(key)
    if (known !== undefined) return known
    this.#threadState.push(state)
    this.#threadRest.push(rest)
    this.#threads.set(key, this.#threadState.length - 1)
    return this.#threadState.length - 1
  }

  #place(threads: Thread[], ends: boolean): Place {
    if (threads.length === 0 && !ends) return NOWHERE
    if (threads.length > MOST_THREADS) throw tooAmbiguous()
    const key = `${ends ? '.' : ''}${threads.length === 1 ? threads[0] : threads.sort((a, b) => a - b).join(',')}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    this.#places.push({ threads, ends })
    this.#known.set(key, this.#places.length - 1)
    return this.#places.length - 1
  }
}

function tooAmbiguous(): TrinityError {
  return new TrinityError('grammar/too-ambiguous', `a text could be read in more than ${MOST_THREADS} ways at once`, {
    hint: 'make alternatives differ in their beginning, for example by a property with a constant that comes first',
  })
}
