import { TrinityError } from '../base/error.js'
import type { Grammar, Part } from './grammar.js'
import { Machine, NOWHERE, type Place } from './machine.js'
import { Masks } from './masks.js'
import type { Vocabulary } from './vocabulary.js'
import { stuck } from './writable.js'

/** Which tokens a model has, and which of them end an answer. */
export interface TokenSet {
  readonly vocabulary: Vocabulary
  /** Tokens of the model, which may be more than the tokenizer's. */
  readonly size: number
  readonly ends: readonly number[]
}

/** A grammar over the tokens of a model: what an engine asks before each draw. */
export class Constraint {
  readonly #grammar: Grammar
  readonly #root: Part
  readonly #masks: Masks
  readonly #tokens: TokenSet
  #machine: Machine

  constructor(grammar: Grammar, root: Part, tokens: TokenSet) {
    this.#grammar = grammar
    this.#tokens = tokens
    this.#root = withStripped(grammar, root, tokens.vocabulary.strip)
    this.#machine = new Machine(grammar, this.#root)
    this.#masks = new Masks(this.#machine, tokens.vocabulary, tokens.size, tokens.ends)
  }

  /** Follows the samples of one request: the masks of sample `index` after `tokens`. */
  follow(): (index: number, tokens: ArrayLike<number>) => Uint32Array {
    const samples: Follower[] = []
    return (index, tokens) => {
      samples[index] ??= { machine: this.#machine, place: this.#machine.start, read: 0, last: -1 }
      const place = this.#advance(samples[index], tokens)
      const mask = this.#masks.of(place)
      if (!mask) throw stuck(this.#machine, place)
      return mask
    }
  }

  /** Whether a text is one that the constraint would let through to its end. */
  accepts(text: string | Uint8Array): boolean {
    const place = this.#read(text)
    return place !== NOWHERE && this.#machine.mayEnd(place)
  }

  /** Whether a text is the beginning of such a one. */
  begins(text: string | Uint8Array): boolean {
    return this.#read(text) !== NOWHERE
  }

  #read(text: string | Uint8Array): Place {
    return this.#machine.after(this.#machine.start, typeof text === 'string' ? Buffer.from(text) : text)
  }

  #advance(sample: Follower, tokens: ArrayLike<number>): Place {
    if (this.#machine.full) {
      this.#machine = new Machine(this.#grammar, this.#root)
      this.#masks.use(this.#machine)
    }
    // a request that was cut off begins again, and a new machine knows nothing of old places
    const goesOn = tokens.length >= sample.read && (sample.read === 0 || tokens[sample.read - 1] === sample.last)
    if (!goesOn || sample.machine !== this.#machine) {
      Object.assign(sample, { machine: this.#machine, place: this.#machine.start, read: 0, last: -1 })
    }
    const { vocabulary } = this.#tokens
    for (; sample.read < tokens.length; sample.read++) {
      const token = tokens[sample.read]
      sample.place = this.#machine.after(sample.place, vocabulary.bytesOf(token))
      sample.last = token
      if (sample.place === NOWHERE) throw strayed(sample.read)
    }
    return sample.place
  }
}

/** How far a sample was read. */
interface Follower {
  machine: Machine
  place: Place
  read: number
  last: number
}

/** A tokenizer that drops blanks from the start of a text lets the model write them. */
function withStripped(grammar: Grammar, root: Part, strip: Vocabulary['strip']): Part {
  if (!strip) return root
  const { regular } = grammar
  const dropped = regular.repeat(regular.byte(strip.content), 0, strip.count)
  return grammar.seq(grammar.terminal(dropped), root)
}

function strayed(at: number): TrinityError {
  return new TrinityError('grammar/strayed', `token ${at} of the answer is not one that was allowed`, {
    hint: 'the engine does not hold to the masks it is given',
  })
}
