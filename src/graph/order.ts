/** Orders over all active tokens of a batch, or over all its rows. Generated code calls these. */

/** `places` in descending order of their values; of equal ones the earlier comes first, and NaN before everything. */
function descending(values: Float64Array, places: Int32Array): Int32Array {
  return places.slice().sort((a, b) => {
    const [x, y] = [values[a], values[b]]
    if (x === y) return a - b
    if (!Number.isNaN(x) && !Number.isNaN(y)) return y - x
    if (Number.isNaN(x) && Number.isNaN(y)) return a - b
    return Number.isNaN(x) ? -1 : 1
  })
}

/** How many stand before each place, from the greatest value on. */
export function ranks(values: Float64Array, places: Int32Array): Float64Array {
  const out = new Float64Array(values.length)
  for (const [rank, place] of descending(values, places).entries()) out[place] = rank
  return out
}

/** At each place: the sum of the values of those whose rank by `keys` is not below its own. */
export function sumsUpTo(values: Float64Array, keys: Float64Array, places: Int32Array): Float64Array {
  const order = descending(keys, places)
  const out = new Float64Array(values.length)
  let sum = 0
  for (let i = order.length - 1; i >= 0; i--) {
    sum += values[order[i]]
    out[order[i]] = sum
  }
  return out
}

/** Every place there is. */
export function all(count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => i)
}
