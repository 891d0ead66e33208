/**
 * How alike two texts are as sets of words, from 0 to 100: `token_set_ratio` of thefuzz (0.20 and later). Words that both
 * have count in full; the others are compared as strings.
 */
export function tokenSetRatio(left: string, right: string): number {
  const [a, b] = [new Set(wordsOf(left)), new Set(wordsOf(right))]
  if (a.size === 0 || b.size === 0) return 0
  const shared = [...a].filter((word) => b.has(word))
  const onlyA = [...a].filter((word) => !b.has(word))
  const onlyB = [...b].filter((word) => !a.has(word))
  if (shared.length > 0 && (onlyA.length === 0 || onlyB.length === 0)) return 100
  const [restA, restB] = [onlyA.sort().join(' '), onlyB.sort().join(' ')]
  const common = shared.join(' ').length
  const blank = common > 0 ? 1 : 0
  const [lengthA, lengthB] = [common + blank + restA.length, common + blank + restB.length]
  const best = Math.max(
    similarity(restA.length + restB.length - 2 * commonSubsequence(restA, restB), lengthA + lengthB),
    common > 0 ? similarity(blank + restA.length, common + lengthA) : 0,
    common > 0 ? similarity(blank + restB.length, common + lengthB) : 0,
  )
  return roundHalfEven(best)
}

/** What thefuzz makes of a text before it compares: no Latin accents, small letters, everything else but words a blank. */
function wordsOf(text: string): string[] {
  return text
    .replace(/[\x80-\xff]/g, '')
    .replace(/[^\p{L}\p{N}]/gu, ' ')
    .toLowerCase()
    .split(' ')
    .filter((word) => word !== '')
}

function similarity(distance: number, length: number): number {
  return length > 0 ? 100 - (100 * distance) / length : 100
}

/** The length of the longest common subsequence. */
function commonSubsequence(a: string, b: string): number {
  let before = new Uint16Array(b.length + 1)
  let row = new Uint16Array(b.length + 1)
  for (let i = 0; i < a.length; i++) {
    for (let j = 0; j < b.length; j++) {
      row[j + 1] = a[i] === b[j] ? before[j] + 1 : Math.max(before[j + 1], row[j])
    }
    ;[before, row] = [row, before]
  }
  return before[b.length]
}

/** As Python's `round`. */
function roundHalfEven(value: number): number {
  const down = Math.floor(value)
  if (value - down !== 0.5) return Math.round(value)
  return down % 2 === 0 ? down : down + 1
}
