/** Longer ones are no lists of files or settings. */
export const MAX_RANGE = 1000

/** From the first number to the last, both included; undefined where one of them is no whole number. */
export function numbers(first: string, last: string, step = '1', width = 0): string[] | undefined {
  if (![first, last, step].every((text) => /^-?\d{1,15}$/.test(text))) return undefined
  const by = Number(step)
  const count = Math.floor((Number(last) - Number(first)) / by) + 1
  if (by === 0 || count > MAX_RANGE) return undefined
  return Array.from({ length: Math.max(0, count) }, (_, i) => {
    const value = Number(first) + i * by
    return value < 0 ? `-${String(-value).padStart(width - 1, '0')}` : String(value).padStart(width, '0')
  })
}
