import { expandBraces } from './braces.js'
import { expandWord } from './expand.js'
import type { Word } from './lexer.js'
import type { Variables } from './variables.js'

const UNKNOWN = /\$\{verl\.unknown:/
/** What bash replaces by the names of files. */
const PATTERN = /[*?]/
/** What a loop without words runs over: `"$@"`. */
const ARGUMENTS: Word = { kind: 'word', parts: [{ kind: 'param', body: '@', quoted: true }], line: 0 }

export interface List {
  readonly values: string[]
  readonly isKnown: boolean
}

/** What a loop runs over, word by word. */
export const listsOf = (words: readonly Word[] | undefined, variables: Variables): List[] =>
  (words ?? [ARGUMENTS]).map((word) => listOf(word, variables))

/** What it runs over because of one word, and whether bash would make the same of it. */
function listOf(word: Word, variables: Variables): List {
  const words = expandBraces(word)
  const values = (words ?? [word]).flatMap((one) => expandWord(one, variables))
  // what is quoted stays as it is, but the elements of an array and the arguments were patterns before
  const mayNameFiles = word.parts.some((part) =>
    part.kind === 'text' ? !part.quoted && PATTERN.test(part.text) : !part.quoted || part.body.includes('@'),
  )
  const isKnown = words !== undefined && !values.some((value) => UNKNOWN.test(value))
  return { values, isKnown: isKnown && !(mayNameFiles && values.some((value) => PATTERN.test(value))) }
}
