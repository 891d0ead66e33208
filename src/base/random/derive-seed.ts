/**
 * One number for a path such as (seed, batch, task, run, attempt, call). Everything random of a rollout comes from such
 * numbers, never from the clock or from the order in which rollouts happen to finish. 52 bits: fits a double, stays ≥ 0.
 */
export function deriveSeed(...path: readonly (number | string)[]): number {
  let high = 0x9e3779b9
  let low = 0x85ebca6b
  const take = (word: number) => {
    high = Math.imul(high ^ word, 0x85ebca77)
    low = Math.imul(low ^ (word + 0x165667b1), 0xc2b2ae3d)
    high ^= low >>> 15
    low ^= high >>> 13
  }
  for (const part of path) {
    // The type goes in too, so that 1 and '1' differ, and so does the length, so that ('a', 'b') and ('ab') do.
    const text = String(part)
    take(typeof part === 'number' ? 1 : 2)
    take(text.length)
    for (let i = 0; i < text.length; i++) take(text.charCodeAt(i))
  }
  const mixed = [mix(high), mix(low ^ high)]
  return (mixed[0] & 0xfffff) * 2 ** 32 + (mixed[1] >>> 0)
}

/** The last round of a 32-bit hash: every bit of the input reaches every bit of the output. */
function mix(word: number): number {
  let x = word ^ (word >>> 16)
  x = Math.imul(x, 0x7feb352d)
  x ^= x >>> 15
  x = Math.imul(x, 0x846ca68b)
  return x ^ (x >>> 16)
}
