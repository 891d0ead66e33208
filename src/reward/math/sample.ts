import type { Rational } from './rational.js'
import { rational, toNumber } from './rational.js'

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
export class Sample {
  readonly #values = new Map<string, Rational>()

  constructor(
    readonly mode: Mode,
    readonly seed: number,
    readonly budget: Budget,
    /** Whether names may stand for negative numbers here. */
    readonly signed: boolean,
  ) {}

  spend(): void {
    if (--this.budget.left < 0) throw new OutOfBudget()
  }

  value(name: string): Rational {
    let value = this.#values.get(name)
    if (value === undefined) {
      const h = hash(name, this.seed)
      const numerator = 211n + BigInt(h % 1789)
      value = rational(this.signed && h & 0x10000 ? -numerator : numerator, 997n)!
      this.#values.set(name, value)
    }
    return value
  }

  number(name: string): number {
    return toNumber(this.value(name))
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
