import type { Machine, Place, Stack, Thread } from './machine.js'
import { type Automaton, DEAD, type State } from './regular/automaton.js'
import { clamped } from './regular/clamp.js'
import type { Vocabulary } from './vocabulary.js'

/** What a regular part says of the vocabulary, whatever follows it. */
interface Within {
  /** Tokens that stay inside, or end with it: few as a list, many as bits. */
  readonly few?: Int32Array
  readonly many?: Uint32Array
  /** Nodes of the vocabulary at which the part may have ended with more of a token to come. */
  readonly exits: Int32Array
}

/** Bytes of whole masks that are kept. */
const KEPT_BYTES = 64 << 20

/**
 * The tokens that may follow, as bits. Most of a vocabulary is decided by the regular part alone that a text is in (is
 * this a piece of a string?): found out once for each of its states. Only tokens that reach beyond its end depend on what
 * follows, and are walked through for each place. Places that come again find their mask ready.
 */
export class Masks {
  readonly #vocabulary: Vocabulary
  readonly #automaton: Automaton
  readonly #words: number
  readonly #ends: readonly number[]
  readonly #within: (Within | undefined)[] = []
  #machine: Machine
  #whole = new Map<Place, Uint32Array>()
  #path: Int32Array

  /** `size`: tokens of the model; `ends`: tokens that end an answer. */
  constructor(machine: Machine, vocabulary: Vocabulary, size: number, ends: readonly number[]) {
    this.#machine = machine
    this.#vocabulary = vocabulary
    this.#automaton = machine.grammar.automaton
    this.#words = Math.ceil(size / 32)
    this.#ends = ends.filter((token) => token < size)
    this.#path = new Int32Array(vocabulary.longest + 1)
  }

  /** Goes on with another machine of the same grammar. */
  use(machine: Machine): void {
    this.#machine = machine
    this.#whole.clear()
  }

  /** Valid for reading; the same array comes for the same place. Undefined: no token may follow. */
  of(place: Place): Uint32Array | undefined {
    const known = this.#whole.get(place)
    if (known) return known
    if ((this.#whole.size + 1) * this.#words * 4 > KEPT_BYTES) this.#whole.clear()
    const mask = new Uint32Array(this.#words)
    for (const thread of this.#machine.threads(place)) {
      const rest = this.#machine.rest(thread)
      this.#add(mask, thread)
      if (!this.#automaton.isFinal(this.#machine.state(thread))) continue
      for (const one of this.#machine.opening(rest).threads) this.#add(mask, one)
    }
    if (this.#machine.mayEnd(place)) for (const token of this.#ends) mask[token >> 5] |= 1 << (token & 31)
    if (mask.every((word) => word === 0)) return undefined
    this.#whole.set(place, mask)
    return mask
  }

  /** Tokens that begin in a thread and go on beyond it; not those that begin behind it. */
  #add(mask: Uint32Array, thread: Thread): void {
    const { few, many, exits } = this.#withinOf(this.#machine.state(thread))
    if (few) for (const token of few) mask[token >> 5] |= 1 << (token & 31)
    if (many) for (let i = 0; i < many.length; i++) mask[i] |= many[i]
    this.#beyond(mask, exits, this.#machine.rest(thread))
  }

  #beyond(mask: Uint32Array, exits: ArrayLike<number>, rest: Stack): void {
    if (exits.length === 0) return
    for (const thread of this.#machine.opening(rest).threads) {
      const more: number[] = []
      const state = this.#machine.state(thread)
      for (let i = 0; i < exits.length; i++) this.#walk(mask, exits[i], state, more)
      this.#beyond(mask, more, this.#machine.rest(thread))
    }
  }

  /** Marks the tokens below a node that stay inside a regular part; adds the nodes at which it may have ended. */
  #walk(mask: Uint32Array, from: number, state: State, exits: number[]): void {
    const { byte, depth, end, first, tokens } = this.#vocabulary
    const automaton = this.#automaton
    const path = this.#path
    path[depth[from]] = state
    const last = end[from]
    for (let node = from + 1; node < last; ) {
      const here = automaton.next(path[depth[node] - 1], byte[node])
      if (here === DEAD) {
        node = end[node]
        continue
      }
      path[depth[node]] = here
      for (let i = first[node]; i < first[node + 1]; i++) mask[tokens[i] >> 5] |= 1 << (tokens[i] & 31)
      if (end[node] > node + 1 && automaton.isFinal(here)) exits.push(node)
      node++
    }
  }

  #withinOf(given: State): Within {
    const known = this.#within[given]
    if (known) return known
    const { regular } = this.#machine.grammar
    const state = this.#automaton.state(clamped(regular, this.#automaton.expression(given), this.#vocabulary.longest))
    const made = state === given ? this.#look(state) : this.#withinOf(state)
    this.#within[given] = made
    return made
  }

  #look(state: State): Within {
    const mask = new Uint32Array(this.#words)
    const exits: number[] = []
    this.#walk(mask, 0, state, exits)
    const few = tokensOf(mask, this.#words >> 1)
    return { ...(few ? { few } : { many: mask }), exits: Int32Array.from(exits) }
  }
}

/** The tokens of a mask, where they are not more than `most`. */
function tokensOf(mask: Uint32Array, most: number): Int32Array | undefined {
  const tokens: number[] = []
  for (let word = 0; word < mask.length; word++) {
    for (let bits = mask[word]; bits !== 0; bits &= bits - 1) {
      if (tokens.length >= most) return undefined
      tokens.push(word * 32 + 31 - Math.clz32(bits & -bits))
    }
  }
  return Int32Array.from(tokens)
}
