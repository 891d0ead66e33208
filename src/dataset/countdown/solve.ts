/** A value that was made, how, and how tightly its parts hold together. */
interface Term {
  readonly value: number
  readonly text: string
  /** 1: a sum, 2: a product, 3: a number. */
  readonly rank: number
}

/** Far below what differs between two results of whole numbers of this size. */
const NEAR = 1e-9

/** An expression that uses each number once and has the value of the target; undefined: there is none. */
export function solve(nums: readonly number[], target: number): string | undefined {
  return search(
    nums.map((value) => ({ value, text: String(value), rank: 3 })),
    target,
  )
}

function search(terms: readonly Term[], target: number): string | undefined {
  if (terms.length === 1) return Math.abs(terms[0].value - target) < NEAR ? terms[0].text : undefined
  for (let i = 0; i < terms.length; i++) {
    for (let j = i + 1; j < terms.length; j++) {
      const rest = terms.filter((_, at) => at !== i && at !== j)
      for (const term of combined(terms[i], terms[j])) {
        const found = search([...rest, term], target)
        if (found !== undefined) return found
      }
    }
  }
  return undefined
}

function* combined(a: Term, b: Term): Iterable<Term> {
  yield { value: a.value + b.value, text: `${a.text} + ${b.text}`, rank: 1 }
  yield { value: a.value - b.value, text: `${a.text} - ${within(b, 2)}`, rank: 1 }
  yield { value: b.value - a.value, text: `${b.text} - ${within(a, 2)}`, rank: 1 }
  yield { value: a.value * b.value, text: `${within(a, 2)} * ${within(b, 2)}`, rank: 2 }
  if (b.value !== 0) yield { value: a.value / b.value, text: `${within(a, 2)} / ${within(b, 3)}`, rank: 2 }
  if (a.value !== 0) yield { value: b.value / a.value, text: `${within(b, 2)} / ${within(a, 3)}`, rank: 2 }
}

function within({ text, rank }: Term, least: number): string {
  return rank < least ? `(${text})` : text
}
