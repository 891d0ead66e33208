import { TrinityError } from '../base/error.js'
import type { Tokenizer } from '../model/index.js'
import { Constraint } from './constraint.js'
import { type Format, formatPart } from './format.js'
import { Grammar } from './grammar.js'
import { checkSize } from './schema/size.js'
import { vocabularyOf } from './vocabulary.js'

/** Constraints of one tokenizer that are kept, masks included. */
const KEPT = 32

const kept = new WeakMap<Tokenizer, Map<string, Constraint>>()

/**
 * The constraint that holds a model to a format; the same object for the same format, so that what it has found out
 * serves all later requests. `size`: tokens of the model.
 */
export function constraintFor(tokenizer: Tokenizer, size: number, format: Format): Constraint {
  checkSize(format)
  const all = kept.get(tokenizer) ?? new Map<string, Constraint>()
  kept.set(tokenizer, all)
  const key = `${size} ${JSON.stringify(format)}`
  const known = all.get(key)
  const constraint = known ?? newConstraint(tokenizer, size, format)
  // the one that was used last goes last
  all.delete(key)
  all.set(key, constraint)
  if (all.size > KEPT) all.delete(all.keys().next().value!)
  return constraint
}

/** Masks that hold one request to a format. What they hold it to goes with them: a function cannot leave its thread. */
export function allowedFor(tokenizer: Tokenizer, size: number, format: Format): ReturnType<Constraint['follow']> {
  const allowed = constraintFor(tokenizer, size, format).follow()
  formats.set(allowed, format)
  return allowed
}

/** The format behind masks that `allowedFor` made. */
export function formatOf(allowed: object): Format | undefined {
  return formats.get(allowed)
}

const formats = new WeakMap<object, Format>()

function newConstraint(tokenizer: Tokenizer, size: number, format: Format): Constraint {
  if (tokenizer.eosId === undefined) {
    throw new TrinityError('grammar/tokenizer', 'the tokenizer names no token that ends an answer', {
      path: tokenizer.path,
      hint: 'set eos_token in its tokenizer_config.json: an answer that is complete could not end otherwise',
    })
  }
  const vocabulary = vocabularyOf(tokenizer)
  const grammar = new Grammar()
  return new Constraint(grammar, formatPart(grammar, format), { vocabulary, size, ends: [tokenizer.eosId] })
}
