/**
 * Exponential moving average without the pull towards 0 of the first values (as TensorBoard draws it). Weight 0 changes
 * nothing; a gap stays a gap and does not move the average.
 */
export function smooth(values: readonly (number | null)[], weight: number): (number | null)[] {
  if (weight <= 0) return [...values]
  let sum = 0
  let mass = 0
  return values.map((value) => {
    if (value === null) return null
    sum = sum * weight + value * (1 - weight)
    mass = mass * weight + (1 - weight)
    return sum / mass
  })
}
