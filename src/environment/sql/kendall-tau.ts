/** Kendall's tau-b of two lists of the same length, whose items are compared as they stand; NaN where one is all ties. */
export function kendallTau(a: readonly string[], b: readonly string[]): number {
  const [x, y] = [ranks(a), ranks(b)]
  const order = x.map((_, i) => i).sort((i, j) => x[i] - x[j] || y[i] - y[j])
  const total = pairs(a.length)
  const xTies = ties(x.map(String))
  const yTies = ties(y.map(String))
  const bothTies = ties(x.map((rank, i) => `${rank} ${y[i]}`))
  const discordant = inversions(order.map((i) => y[i]))
  const difference = total - xTies - yTies + bothTies - 2 * discordant
  return difference / Math.sqrt(total - xTies) / Math.sqrt(total - yTies)
}

function pairs(count: number): number {
  return (count * (count - 1)) / 2
}

/** Pairs of equal items. */
function ties(items: readonly string[]): number {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return [...counts.values()].reduce((sum, count) => sum + pairs(count), 0)
}

function ranks(items: readonly string[]): number[] {
  const sorted = [...new Set(items)].sort((p, q) => (p < q ? -1 : 1))
  const places = new Map(sorted.map((item, place) => [item, place]))
  return items.map((item) => places.get(item) as number)
}

/** How many pairs stand in the wrong order, by merging. */
function inversions(values: number[]): number {
  if (values.length < 2) return 0
  const middle = values.length >> 1
  const [left, right] = [values.slice(0, middle), values.slice(middle)]
  let count = inversions(left) + inversions(right)
  for (let i = 0, j = 0, k = 0; k < values.length; k++) {
    if (j >= right.length || (i < left.length && left[i] <= right[j])) values[k] = left[i++]
    else {
      count += left.length - i
      values[k] = right[j++]
    }
  }
  return count
}
