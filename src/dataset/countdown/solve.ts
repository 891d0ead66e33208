/** A value, and what it was made of. */
interface Term {
  readonly value: number
  readonly sign?: '+' | '-' | '*' | '/'
  readonly left?: Term
  readonly right?: Term
}

/** Far below what differs between two results of whole numbers of this size. */
const NEAR = 1e-9

/** An expression that uses each number once and has the value of the target; undefined: there is none. */
export function solve(nums: readonly number[], target: number): string | undefined {
  let found: Term | undefined
  results(termsOf(nums), (term) => {
    if (Math.abs(term.value - target) < NEAR) found = term
    return found !== undefined
  })
  return found && textOf(found)
}

/** The whole numbers from 1 to `most` that can be made of the numbers, in order. */
export function reachable(nums: readonly number[], most: number): number[] {
  const values = new Set<number>()
  results(termsOf(nums), ({ value }) => {
    const whole = Math.round(value)
    if (whole >= 1 && whole <= most && Math.abs(value - whole) < NEAR) values.add(whole)
    return false
  })
  return [...values].sort((a, b) => a - b)
}

function termsOf(nums: readonly number[]): Term[] {
  return nums.map((value) => ({ value }))
}

/** Calls `stop` with all that the terms can make together, until it says so. */
function results(terms: readonly Term[], stop: (term: Term) => boolean): boolean {
  if (terms.length === 1) return stop(terms[0])
  for (let i = 0; i < terms.length; i++) {
    for (let j = i + 1; j < terms.length; j++) {
      const next = [terms[i], ...terms.filter((_, at) => at !== i && at !== j)]
      for (const term of combined(terms[i], terms[j])) {
        next[0] = term
        if (results(next, stop)) return true
      }
    }
  }
  return false
}

function combined(a: Term, b: Term): Term[] {
  const made: Term[] = [
    { value: a.value + b.value, sign: '+', left: a, right: b },
    { value: a.value - b.value, sign: '-', left: a, right: b },
    { value: b.value - a.value, sign: '-', left: b, right: a },
    { value: a.value * b.value, sign: '*', left: a, right: b },
  ]
  if (b.value !== 0) made.push({ value: a.value / b.value, sign: '/', left: a, right: b })
  if (a.value !== 0) made.push({ value: b.value / a.value, sign: '/', left: b, right: a })
  return made
}

const RANK = { '+': 1, '-': 1, '*': 2, '/': 2 } as const
const rankOf = ({ sign }: Term) => (sign ? RANK[sign] : 3)

/** With brackets only where they are needed. */
function textOf({ value, sign, left, right }: Term): string {
  if (!sign || !left || !right) return String(value)
  const rank = RANK[sign]
  // What follows - or / is taken as a whole.
  const tight = sign === '-' || sign === '/' ? rank + 1 : rank
  return `${within(left, rank)} ${sign} ${within(right, tight)}`
}

function within(term: Term, least: number): string {
  return rankOf(term) < least ? `(${textOf(term)})` : textOf(term)
}
