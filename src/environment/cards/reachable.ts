/** Far below the difference of two fractions of such small numbers. */
const NEAR = 1e-9

/** Can + − * / make the target of these numbers, each used once? Takes two of them after another and puts them together. */
export function isReachable(numbers: readonly number[], target: number): boolean {
  if (numbers.length === 1) return Math.abs(numbers[0] - target) < NEAR
  return numbers.some((a, i) =>
    numbers.some((b, j) => {
      if (i === j) return false
      const rest = numbers.filter((_, at) => at !== i && at !== j)
      const both = [...(i < j ? [a + b, a * b] : []), a - b, ...(Math.abs(b) < NEAR ? [] : [a / b])]
      return both.some((value) => isReachable([...rest, value], target))
    }),
  )
}
