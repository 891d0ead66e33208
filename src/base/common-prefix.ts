/** How many tokens two sequences begin with in common. */
export function commonPrefix(a: Int32Array, b: Int32Array): number {
  const length = Math.min(a.length, b.length)
  let i = 0
  while (i < length && a[i] === b[i]) i++
  return i
}
