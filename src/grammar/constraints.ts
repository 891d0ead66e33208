import { TrinityError } from '../base/error.js'
import type { Tokenizer } from '../model/index.js'
import { Constraint } from './constraint.js'
import type { Format } from './format.js'
import { checkSize } from './schema/size.js'
import { vocabularyOf } from './vocabulary.js'
import { writable } from './writable.js'

/** Constraints of one tokenizer that are kept, masks included. */
const KEPT = 32

const kept = new WeakMap<Tokenizer, Map<string, Constraint>>()

/**
 * The constraint that holds a model to a format; the same object for the same format, so that what it has found out
 * serves all later requests.
 */
export function constraintFor(tokenizer: Tokenizer, model: ModelTokens, format: Format): Constraint {
  checkSize(format)
  const all = kept.get(tokenizer) ?? new Map<string, Constraint>()
  kept.set(tokenizer, all)
  const { vocabSize, endTokens = [] } = model
  const key = `${vocabSize} ${endTokens} ${JSON.stringify(format)}`
  const known = all.get(key)
  const constraint = known ?? newConstraint(tokenizer, model, format)
  // the one that was used last goes last
  all.delete(key)
  all.set(key, constraint)
  if (all.size > KEPT) all.delete(all.keys().next().value!)
  return constraint
}

/** Masks that hold one request to a format. What they hold it to goes with them: a function cannot leave its thread. */
export function allowedFor(tokenizer: Tokenizer, model: ModelTokens, format: Format): ReturnType<Constraint['follow']> {
  const allowed = constraintFor(tokenizer, model, format).follow()
  formats.set(allowed, format)
  return allowed
}

/** The format behind masks that `allowedFor` made. */
export function formatOf(allowed: object): Format | undefined {
  return formats.get(allowed)
}

const formats = new WeakMap<object, Format>()

/** The tokens of a model: how many, which may be more than its tokenizer's, and at which of them its samples end. */
export interface ModelTokens {
  readonly vocabSize: number
  /** Absent or empty: at the one that its tokenizer names. */
  readonly endTokens?: readonly number[]
}

function newConstraint(
  tokenizer: Tokenizer,
  { vocabSize: size, endTokens = [] }: ModelTokens,
  format: Format,
): Constraint {
  const ends = endTokens.length === 0 && tokenizer.eosId !== undefined ? [tokenizer.eosId] : endTokens
  if (ends.length === 0) {
    throw new TrinityError('grammar/tokenizer', 'neither model nor tokenizer names a token that ends an answer', {
      path: tokenizer.path,
      hint: 'set eos_token in its tokenizer_config.json: an answer that is complete could not end otherwise',
    })
  }
  const vocabulary = vocabularyOf(tokenizer)
  const { grammar, root } = writable(format, vocabulary.alphabet)
  return new Constraint(grammar, root, { vocabulary, size, ends })
}
