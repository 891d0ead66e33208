import { WordClass, wordClass } from './word-class.js'

/** A word that is longer is cut into pieces. */
const LONGEST = 255

/** The words of a text as Lucene's standard tokenizer cuts it: Annex 29 of Unicode, with pictographs as words. */
export function words(text: string): string[] {
  const found: string[] = []
  for (let start = 0; start < text.length; ) {
    const end = plainEnd(text, start) ?? wordEnd(text, start, Math.min(text.length, start + LONGEST))
    if (end > start) found.push(text.slice(start, end))
    start = end > start ? end : nextStart(text, start)
  }
  return found
}

/** Where the next word may begin if none begins here. A run of signs that only join does not have to be tried one by one. */
function nextStart(text: string, start: number): number {
  const here = classAt(text, start, text.length)
  if (here !== WordClass.connector && here !== WordClass.joiner) return after(text, start)
  const run = runEnd(text, start, text.length, (one) => one === here)
  if (isMark(classAt(text, run, text.length))) return after(text, start)
  return run - start < LONGEST ? run : run - LONGEST + 1
}

const OTHER = 1
const PLAIN = 2
/** Of ASCII: letters and digits, and what never belongs to a word. */
const simple = Uint8Array.from({ length: 128 }, (_, at) => {
  const one = wordClass(at)
  return one === WordClass.letter || one === WordClass.number ? PLAIN : one === WordClass.other ? OTHER : 0
})

/** The same as `wordEnd` for most words, which are letters and digits of ASCII up to a blank: three times as fast. */
function plainEnd(text: string, start: number): number | undefined {
  let end = start
  let next = text.charCodeAt(end)
  while (simple[next] === PLAIN && end - start <= LONGEST) next = text.charCodeAt(++end)
  if (end - start > LONGEST) return undefined
  return simple[next] === OTHER || end === text.length ? end : undefined
}

/** Where the word ends that begins at `start`; `start` itself or less: none does. */
function wordEnd(text: string, start: number, limit: number): number {
  const next = after(text, start)
  switch (classAt(text, start, limit)) {
    case WordClass.letter:
    case WordClass.hebrew:
    case WordClass.number:
    case WordClass.katakana:
    case WordClass.connector:
      return joinedEnd(text, start, limit)
    case WordClass.letterSign:
      return Math.max(joinedEnd(text, start, limit), pictographEnd(text, start, limit))
    case WordClass.single:
      return marksEnd(text, next, limit)
    case WordClass.unspaced:
    case WordClass.unspacedMark:
      return unspacedEnd(text, start, limit)
    case WordClass.pictograph:
    case WordClass.modifier:
    case WordClass.joiner:
      return pictographEnd(text, start, limit)
    case WordClass.indicator: {
      const second = marksEnd(text, next, limit)
      return classAt(text, second, limit) === WordClass.indicator ? marksEnd(text, after(text, second), limit) : start
    }
    case WordClass.key:
      return keyEnd(text, start, limit)
    default:
      return start
  }
}

/** After a word of letters, numbers, Katakana and what joins them. */
function joinedEnd(text: string, start: number, limit: number): number {
  let end = start
  let before: number = WordClass.connector
  for (let at = start; at < limit; ) {
    const here = classAt(text, at, limit)
    const next = marksEnd(text, after(text, at), limit)
    const beyond = classAt(text, next, limit)
    if (here === WordClass.connector) {
      // Alone it is no word.
      if (end > start) end = next
      before = here
    } else if (joins(before, here)) {
      end = next
      before = here
    } else if (before === WordClass.hebrew && here === WordClass.singleQuote && !isLetter(beyond)) {
      end = next
      before = WordClass.singleQuote
    } else if (bridges(before, here, beyond)) {
      end = marksEnd(text, after(text, next), limit)
      // What comes over a bridge is not the beginning of another: no Hebrew quotation mark follows, and after one nothing.
      before = here === WordClass.doubleQuote ? here : beyond === WordClass.hebrew ? WordClass.letter : beyond
    } else break
    at = Math.max(next, end)
  }
  return end
}

function isLetter(one: number): boolean {
  return one === WordClass.letter || one === WordClass.hebrew || one === WordClass.letterSign
}

function joins(before: number, here: number): boolean {
  if (here === WordClass.katakana) return before === WordClass.katakana || before === WordClass.connector
  return before !== WordClass.katakana && (isLetter(here) || here === WordClass.number)
}

/** A sign between two letters or two numbers. */
function bridges(before: number, here: number, beyond: number): boolean {
  const both = here === WordClass.midBoth || here === WordClass.singleQuote
  if (isLetter(before) && isLetter(beyond)) {
    if (both || here === WordClass.midLetter) return true
    return here === WordClass.doubleQuote && before === WordClass.hebrew && beyond === WordClass.hebrew
  }
  return before === WordClass.number && beyond === WordClass.number && (both || here === WordClass.midNumber)
}

/** After pictographs that joiners glue together. */
function pictographEnd(text: string, start: number, limit: number): number {
  const first = runEnd(text, start, limit, isJoiner)
  const begins = classAt(text, first, limit)
  // A modifier that stands first takes neither joiners before it nor the sign of color after it.
  if (begins === WordClass.modifier ? first > start : !isPictograph(begins)) return start
  let end = runEnd(text, after(text, first), limit, isQuietMark)
  if (begins !== WordClass.modifier && classAt(text, end, limit) === WordClass.colorStyle) end++
  for (;;) {
    const glue = runEnd(text, end, limit, isJoiner)
    const glued = glue > end || text[end - 1] === JOINER
    if (!glued || !isPictograph(classAt(text, glue, limit))) return end
    end = runEnd(text, after(text, glue), limit, isQuietMark)
    if (classAt(text, end, limit) === WordClass.colorStyle) end++
  }
}

const JOINER = '\u200d'
const COLORED = '\ufe0f'

function isPictograph(one: number): boolean {
  return one === WordClass.pictograph || one === WordClass.letterSign || one === WordClass.modifier
}

/** After a run of a script without blanks. */
function unspacedEnd(text: string, start: number, limit: number): number {
  let at = start
  for (let here = classAt(text, at, limit); ; here = classAt(text, at, limit)) {
    if (here !== WordClass.unspaced && here !== WordClass.unspacedMark) return at
    at = marksEnd(text, after(text, at), limit)
  }
}

/** After a sign of the telephone's keys with a ring around it. */
function keyEnd(text: string, start: number, limit: number): number {
  const marks = runEnd(text, start + 1, limit, isQuietMark)
  if (text.startsWith(COLORED + RING, marks) && marks + 2 <= limit) return runEnd(text, marks + 2, limit, isQuietMark)
  return text.slice(start, marks).includes(RING) ? marks : start
}

const RING = '\u20e3'

function isMark(one: number): boolean {
  switch (one) {
    case WordClass.extend:
    case WordClass.textStyle:
    case WordClass.colorStyle:
    case WordClass.joiner:
    case WordClass.unspacedMark:
    case WordClass.modifier:
      return true
    default:
      return false
  }
}

function isJoiner(one: number): boolean {
  return one === WordClass.joiner
}

/** Changes a pictograph, but not into one of color or of text. */
function isQuietMark(one: number): boolean {
  return isMark(one) && one !== WordClass.textStyle && one !== WordClass.colorStyle
}

/** After all that belongs to the character before `at`. */
function marksEnd(text: string, at: number, limit: number): number {
  return runEnd(text, at, limit, isMark)
}

/** After all characters of a kind from `at` on. */
function runEnd(text: string, at: number, limit: number, belongs: (one: number) => boolean): number {
  let end = at
  while (end < limit && belongs(classAt(text, end, limit))) end = after(text, end)
  return end
}

function classAt(text: string, at: number, limit: number): number {
  return at < limit ? wordClass(text.codePointAt(at) as number) : WordClass.other
}

function after(text: string, at: number): number {
  return at + ((text.codePointAt(at) as number) > 0xffff ? 2 : 1)
}
