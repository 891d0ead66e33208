import { TrinityError } from '../base/error.js'
import type { Grammar, Part } from './grammar.js'
import { JsonText } from './json/text.js'
import { ANY, plainly } from './regular/characters.js'
import { patternExpression } from './regular/pattern.js'
import { schemaPart } from './schema/compile.js'

/** What an answer must look like, as data. */
export type Format =
  /** Any JSON object. */
  | { readonly type: 'json_object' }
  /** JSON that fits a schema. */
  | { readonly type: 'json_schema'; readonly schema: unknown }
  /** Text that a pattern fits as a whole. */
  | { readonly type: 'regex'; readonly pattern: string }
  /** One of some texts. */
  | { readonly type: 'choice'; readonly choices: readonly string[] }
  /** Whitespace as it may stand between the parts of JSON. */
  | { readonly type: 'space' }
  /** Any text without `mark` in it, which may be empty. */
  | { readonly type: 'free'; readonly mark: string }
  /** The same with `mark` at its end. */
  | { readonly type: 'until'; readonly mark: string }
  | { readonly type: 'sequence' | 'any_of'; readonly parts: readonly Format[] }
  | { readonly type: 'repeat'; readonly part: Format; readonly min: number; readonly max?: number }

const MOST_CHOICES = 50_000

export function formatPart(grammar: Grammar, format: Format): Part {
  const { regular } = grammar
  switch (format.type) {
    case 'json_object':
      return new JsonText(grammar).object
    case 'json_schema':
      return schemaPart(grammar, format.schema)
    case 'regex': {
      const how = { spelling: plainly, covers: 'whole', path: 'pattern' } as const
      return possible(grammar, grammar.terminal(patternExpression(regular, format.pattern, how)), 'the pattern')
    }
    case 'choice':
      return choicePart(grammar, format.choices)
    case 'space':
      return grammar.terminal(new JsonText(grammar).whitespace)
    case 'free':
      return grammar.terminal(textWithout(grammar, format.mark))
    case 'until':
      return grammar.terminal(regular.seq(textWithout(grammar, format.mark), regular.text(format.mark)))
    case 'sequence':
      return grammar.seq(...format.parts.map((part) => formatPart(grammar, part)))
    case 'any_of':
      return grammar.alt(...format.parts.map((part) => formatPart(grammar, part)))
    case 'repeat':
      return grammar.repeat(formatPart(grammar, format.part), format.min, format.max)
  }
}

function choicePart(grammar: Grammar, choices: readonly string[]): Part {
  const fine = choices.length > 0 && choices.length <= MOST_CHOICES && choices.every((one) => typeof one === 'string')
  if (fine) return grammar.terminal(grammar.regular.oneOf(choices))
  throw new TrinityError('grammar/choice', `a choice is between 1 … ${MOST_CHOICES} texts`, { path: 'choices' })
}

/** No beginning of `mark` either that the text goes on with: `until` is then over at the first one. */
function textWithout({ regular }: Grammar, mark: string) {
  const any = regular.repeat(plainly(regular, ANY), 0)
  return regular.and(any, regular.not(regular.seq(any, regular.text(mark), any)))
}

function possible(grammar: Grammar, part: Part, what: string): Part {
  if (grammar.possible(part)) return part
  throw new TrinityError('grammar/impossible', `no text fits ${what}`, { hint: 'look for empty brackets: []' })
}
