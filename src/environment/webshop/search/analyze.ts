import { porterStem } from './porter-stem.js'
import { words } from './words.js'

const STOP_WORDS = new Set(
  (
    'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this ' +
    'to was will with'
  ).split(' '),
)

/** Stems of words met before: a catalogue has few different ones. */
const known = new Map<string, string>()
const KNOWN = 1 << 17

/** The terms of a text as Lucene's English analyzer makes them: no possessive, small letters, no stop words, stems. */
export function analyze(text: string): string[] {
  const terms: string[] = []
  for (const word of words(text)) {
    let term = known.get(word)
    if (term === undefined) {
      term = termOf(word)
      if (known.size >= KNOWN) known.clear()
      known.set(word, term)
    }
    if (term !== '') terms.push(term)
  }
  return terms
}

/** Empty: a stop word. */
function termOf(word: string): string {
  const small = lowerCase(word.replace(/['\u2019\uff07][sS]$/, ''))
  return STOP_WORDS.has(small) ? '' : porterStem(small)
}

/** Character by character, as Java does it; JavaScript looks at the neighbors and may make two of one. */
function lowerCase(word: string): string {
  if (/^[\0-\x7f]*$/.test(word)) return word.toLowerCase()
  let small = ''
  for (const character of word) small += character === '\u0130' ? 'i' : character.toLowerCase()
  return small
}
