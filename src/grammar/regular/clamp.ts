import type { Expression, Expressions } from './expression.js'

/**
 * An expression that allows the same next `most` bytes, with counts that are beyond reach made equal: after ten or after
 * twenty of a thousand characters, the tokens that may follow are the same.
 *
 * Counts inside intersections and complements stay, since there a far end can rule out a beginning.
 */
export function clamped(all: Expressions, expression: Expression, most: number): Expression {
  if (!all.plain(expression)) return expression
  const beyond = most + 1
  const clamp = (one: Expression): Expression => {
    const form = all.form(one)
    switch (form.kind) {
      case 'seq':
        return all.pair(clamp(form.first), clamp(form.rest))
      case 'alt':
        return all.alt(...form.parts.map(clamp))
      case 'repeat': {
        const max = form.max === Number.POSITIVE_INFINITY ? form.max : Math.min(form.max, beyond)
        return all.repeat(clamp(form.part), Math.min(form.min, beyond), max)
      }
      default:
        return one
    }
  }
  return clamp(expression)
}
