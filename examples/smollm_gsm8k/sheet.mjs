// What stories.mjs writes a problem and its solution on.
import { written } from './variants.mjs'

export const NAMES =
  'Emma Liam Olivia Noah Ava Mason Sofia Lucas Mia Ethan Isabel Logan Amelia James Harper Daniel Evelyn Henry Abby Jack Ella Owen Grace Leo Chloe Ryan Lily Nathan Zoe Aaron Nora Caleb Hannah Isaac Stella Adam Ruby Simon Alice Victor Clara Oscar Julia Felix Rosa Hugo Maya Peter Nina Tom Sara Ben Anna Carl Eva Max Tina Rick Joan Paul Kate Mike Laura Dave Betty Sam Carol John Mary Jenny Bob Martha Greg Ali Jose Maria Ken Tim Jerry Kevin Lisa Jill Mark Bill Amy Sally Jessica Frank Steve Gloria'.split(
    ' ',
  )

/** Draws, and keeps the equations of a solution. */
export class Sheet {
  constructor(random) {
    this.random = random
    this.steps = []
  }
  int(low, high) {
    return low + this.random.below(high - low)
  }
  of(list) {
    return list[this.random.below(list.length - 1)]
  }
  different(list, count) {
    const found = new Set()
    while (found.size < count) found.add(this.of(list))
    return [...found]
  }
  /** a op b, as a step. */
  step(a, op, b) {
    const value = op === '+' ? a + b : op === '-' ? a - b : op === '*' ? a * b : a / b
    this.steps.push(`${written(a)}${op}${written(b)}=${written(value)}`)
    return Number(written(value))
  }
  sum(...terms) {
    const value = terms.reduce((a, b) => a + b)
    this.steps.push(`${terms.map(written).join('+')}=${written(value)}`)
    return Number(written(value))
  }
}
