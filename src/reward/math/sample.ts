import type { Rational } from './rational.js'
import { rational } from './rational.js'

/** How marks that one side has and the other lacks are read. */
export interface Mode {
  dropUnits: boolean
  dropPercent: boolean
  dropDegrees: boolean
}

/** Work is bounded for the whole comparison, whatever the text asks for. */
export class Budget {
  left: number
  constructor(nodes: number) {
    this.left = nodes
  }
}

/** Thrown inside the grader only. */
export class OutOfBudget extends Error {}

/** A point at which two expressions are compared: each name has a value that follows from the name and the seed. */
export class NumericSample {
  readonly #values = new Map<string, Rational>()

  constructor(
    readonly mode: Mode,
    readonly seed: number,
    readonly budget: Budget,
    /** What names may stand for here: fractions up to 2, of either sign, or whole numbers up to 60. */
    readonly range: 'positive' | 'signed' | 'whole',
    /** Which of the points with this seed it is. */
    readonly step = 0,
  ) {}

  spend(): void {
    if (--this.budget.left < 0) throw new OutOfBudget()
  }

  value(name: string): Rational {
    let value = this.#values.get(name)
    if (value === undefined) {
      const h = hash(name, this.seed)
      const numerator = 211n + BigInt(h % 1789)
      if (this.range === 'whole') value = { n: BigInt(2 + this.#residue(name, h)), d: 1n }
      else value = rational(this.range === 'signed' && h & 0x10000 ? -numerator : numerator, 997n)!
      this.#values.set(name, value)
    }
    return value
  }

  /** Walks through all numbers below 59, in an order of its own for each name, so that no boundary is missed. */
  #residue(name: string, start: number): number {
    return (start + this.step * (1 + (hash(name, this.seed ^ 1) % 58))) % 59
  }
}

/** FNV-1a with a final mix: all bits depend on all letters. */
export function hash(text: string, seed: number): number {
  let h = (0x811c9dc5 ^ seed) >>> 0
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b) >>> 0
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35) >>> 0
  return (h ^ (h >>> 16)) >>> 0
}
