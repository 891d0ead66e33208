/**
 * The nouns of a product's title, with repetitions, in small letters. The original asks spaCy's tagger, which takes nearly
 * every word of a title for a noun or a name; here every word is one that is not a number, a word of grammar, or an
 * adjective by its ending or from a short list.
 */
export function titleNouns(title: string): string[] {
  return title
    .split(BETWEEN)
    .map((word) => word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}.]+$/gu, '').toLowerCase())
    .map((word) => (/^(\p{L}\.)+\p{L}?$/u.test(word) ? word : word.replace(/\.+$/, '')))
    .filter((word) => /^\p{L}/u.test(word) && !GRAMMAR.has(word) && !ADJECTIVES.has(word) && !LIKE_ADJECTIVE.test(word))
}

/** Blanks, and signs between letters; the possessive is a word of its own. */
const BETWEEN = /\s+|['\u2019](?=[sS]\b)|(?<=[\p{L}\p{N}])[-\u2013\u2014/,:|&+]+(?=[\p{L}\p{N}])/u

const GRAMMAR = new Set(
  (
    'a an the this that these those and or but nor so yet for of in on at by to from with without into onto over under ' +
    'up down out off as is are be was it its your you our my we i he she they them their his her not no all any each ' +
    'every some more most other such only very too also than then per via if when while after before between during ' +
    'through against about above below within s t etc can will use used using has have does do'
  ).split(' '),
)

const ADJECTIVES = new Set(
  (
    'new old big small large tiny long short wide narrow thick thin high low tall soft hard heavy light easy quick fast ' +
    'slow good great best better perfect nice cute cool warm hot cold dry wet clean fresh pure raw real true full empty ' +
    'deep flat round square natural organic modern classic vintage elegant casual formal sexy comfortable comfy simple ' +
    'universal multi double single dual triple extra super non electric electronic automatic manual digital portable ' +
    'compatible breathable reusable removable rechargeable stylish fashionable unique funny happy novelty'
  ).split(' '),
)

/** Adjustable, wireless, colorful, printed; but not vegetable, speed. */
const LIKE_ADJECTIVE = /^(?!vegetable).{4,}(?:able|ible|less)$|.{4,}ful$|..[^e]ed$/
