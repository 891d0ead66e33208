/**
 * Porter's stemmer of 1980, with the two rules that he added later (`bli`, `logi`), as Lucene has it. Words of one or two
 * characters stay as they are.
 */
export function porterStem(word: string): string {
  if (word.length < 3) return word
  let stem = plural(word)
  stem = pastOrIng(stem)
  stem = finalY(stem)
  stem = replaced(stem, DOUBLE_SUFFIXES, (rest) => measure(rest) > 0)
  stem = replaced(stem, SUFFIXES, (rest) => measure(rest) > 0)
  stem = replaced(stem, LAST_SUFFIXES, (_, result) => measure(result) > 1)
  return finalE(stem)
}

type Suffixes = readonly (readonly [suffix: string, instead: string])[]

/** Of the suffixes of a step only the first that fits counts, whether the rest is long enough for it or not. */
const DOUBLE_SUFFIXES: Suffixes = [
  ['ational', 'ate'],
  ['tional', 'tion'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['bli', 'ble'],
  ['alli', 'al'],
  ['entli', 'ent'],
  ['eli', 'e'],
  ['ousli', 'ous'],
  ['ization', 'ize'],
  ['ation', 'ate'],
  ['ator', 'ate'],
  ['alism', 'al'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['biliti', 'ble'],
  ['logi', 'log'],
]
const SUFFIXES: Suffixes = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ful', ''],
  ['ness', ''],
]
const LAST_SUFFIXES: Suffixes = [
  ...['al', 'ance', 'ence', 'er', 'ic', 'able', 'ible', 'ant', 'ement', 'ment', 'ent', 'sion', 'tion', 'ou', 'ism'],
  ...['ate', 'iti', 'ous', 'ive', 'ize'],
].map((suffix) => (suffix.endsWith('ion') ? [suffix, suffix[0]] : [suffix, '']))

function plural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2)
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

function pastOrIng(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word
  const stem = word.endsWith('ed') ? word.slice(0, -2) : word.endsWith('ing') ? word.slice(0, -3) : undefined
  if (stem === undefined || !hasVowel(stem)) return word
  if (/(at|bl|iz)$/.test(stem)) return `${stem}e`
  if (endsDouble(stem)) return /[lsz]$/.test(stem) ? stem : stem.slice(0, -1)
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem
}

function finalY(word: string): string {
  return word.endsWith('y') && hasVowel(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word
}

/** `holds`: may the suffix go, with this before it and this as the result? */
function replaced(word: string, suffixes: Suffixes, holds: (rest: string, result: string) => boolean): string {
  const found = suffixes.find(([suffix]) => word.endsWith(suffix))
  if (!found) return word
  const rest = word.slice(0, word.length - found[0].length)
  const result = rest + found[1]
  return holds(rest, result) ? result : word
}

function finalE(word: string): string {
  let stem = word
  if (stem.endsWith('e')) {
    const rest = stem.slice(0, -1)
    const size = measure(rest)
    if (size > 1 || (size === 1 && !endsShort(rest))) stem = rest
  }
  return stem.endsWith('ll') && measure(stem.slice(0, -1)) > 1 ? stem.slice(0, -1) : stem
}

function isConsonant(word: string, at: number): boolean {
  switch (word[at]) {
    case 'a':
    case 'e':
    case 'i':
    case 'o':
    case 'u':
      return false
    case 'y':
      return at === 0 || !isConsonant(word, at - 1)
    default:
      return true
  }
}

/** How often vowels are followed by consonants. */
function measure(word: string): number {
  let count = 0
  let vowel = false
  for (let at = 0; at < word.length; at++) {
    const consonant = isConsonant(word, at)
    if (consonant && vowel) count++
    vowel = !consonant
  }
  return count
}

function hasVowel(word: string): boolean {
  for (let at = 0; at < word.length; at++) if (!isConsonant(word, at)) return true
  return false
}

function endsDouble(word: string): boolean {
  const last = word.length - 1
  return last > 0 && word[last] === word[last - 1] && isConsonant(word, last)
}

/** Consonant, vowel, consonant other than w, x, y: as in `hop`. */
function endsShort(word: string): boolean {
  const last = word.length - 1
  if (last < 2 || /[wxy]$/.test(word)) return false
  return isConsonant(word, last) && !isConsonant(word, last - 1) && isConsonant(word, last - 2)
}
