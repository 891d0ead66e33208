/** What is asked for: a sum of the numbers that gives the target. */
export interface Truth {
  target: number
  numbers: number[]
}

/** 1 for a sum that gives the target and takes each number once, otherwise 0. */
export function grade(answer: string, { target, numbers }: Truth): number {
  const sum = /<answer>(.*?)<\/answer>/.exec(answer)?.[1] ?? ''
  const terms = sum.match(/[+-]?\d+/g) ?? []
  if (terms.join('') !== sum || terms.length === 0) return 0
  const taken = terms.map((term) => Math.abs(Number(term))).sort((a, b) => a - b)
  const given = [...numbers].sort((a, b) => a - b)
  const value = terms.reduce((total, term) => total + Number(term), 0)
  return value === target && String(taken) === String(given) ? 1 : 0
}
