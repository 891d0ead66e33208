/** Limits of a ratio or a divergence. */
export interface Bounds {
  readonly lower?: number
  readonly upper: number
}

const NUMBER = /^\d+(\.\d*)?(e[-+]?\d+)?$|^\.\d+$/i

/** `2`, `"2.0"`, or `"0.5_2.0"` with a lower limit too; undefined: not of this form, or not in order. */
export function parseBounds(given: number | string): Bounds | undefined {
  const parts = String(given)
    .split('_')
    .map((part) => part.trim())
  if (parts.length > 2 || !parts.every((part) => NUMBER.test(part) && Number(part) > 0)) return undefined
  const [first, second] = parts.map(Number)
  if (second === undefined) return { upper: first }
  return first <= second ? { lower: first, upper: second } : undefined
}
