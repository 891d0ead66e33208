import fc from 'fast-check'
import { expect, it } from 'vitest'
import { kendallTau } from './kendall-tau.js'
import { resultReward, resultText, rowText } from './rows.js'

/** By its definition, pair by pair. */
function slowTau(a: readonly string[], b: readonly string[]): number {
  let [sum, x, y] = [0, 0, 0]
  for (let i = 0; i < a.length; i++)
    for (let j = 0; j < i; j++) {
      const [p, q] = [Math.sign(Number(a[i] > a[j]) - Number(a[i] < a[j])), Number(b[i] > b[j]) - Number(b[i] < b[j])]
      sum += p * q
      x += p * p
      y += q * q
    }
  return sum / Math.sqrt(x) / Math.sqrt(y)
}

it("Kendall's tau-b is what its definition says", () => {
  const letters = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'B', '1'), fc.string({ maxLength: 1 })), {
    maxLength: 30,
  })
  fc.assert(
    fc.property(letters, (pairs) => {
      const [a, b] = [pairs.map(([p]) => p), pairs.map(([, q]) => q)]
      const [tau, slow] = [kendallTau(a, b), slowTau(a, b)]
      if (Number.isNaN(slow)) expect(tau).toBeNaN()
      else expect(tau).toBeCloseTo(slow, 9)
    }),
  )
  // scipy.stats.kendalltau([12, 2, 1, 12, 2], [1, 4, 7, 1, 0]), as letters in that order
  expect(kendallTau(['c', 'b', 'a', 'c', 'b'], ['1', '4', '7', '1', '0'])).toBeCloseTo(-0.47140452079103173, 12)
})

it.each([
  [['1', '2', '3'], ['1', '2', '3'], 1],
  [['3', '2', '1'], ['1', '2', '3'], -1],
  [['1', '3', '2'], ['1', '2', '3'], 0.33],
  [['1', '2'], ['1', '2', '3'], 0.67],
  [['1'], ['1', '2'], 0.5],
  [['1', '1'], ['1'], 0.5],
  [['1', '1'], ['1', '1'], 1],
  [[], [], 1],
  [[], ['1'], 0],
  [['4'], ['1'], 0],
  // 5/8 and 7/8 as Python rounds them, up to the even neighbor
  [['1', '2', '3', '4', '5'], ['1', '2', '3', '4', '5', '6', '7', '8'], 0.62],
  [['1', '2', '3', '4', '5', '6', '7'], ['1', '2', '3', '4', '5', '6', '7', '8'], 0.88],
])('%j against %j earns %d', (agent, gold, reward) => {
  expect(resultReward(agent, gold)).toBe(reward)
})

it('the reward lies between −1 and 1, and is 1 for the same rows', () => {
  const rows = fc.array(fc.constantFrom('1', '2', '3', '4', '10'), { maxLength: 12 })
  fc.assert(
    fc.property(rows, rows, (agent, gold) => {
      expect(Math.abs(resultReward(agent, gold))).toBeLessThanOrEqual(1)
      expect(resultReward(gold, gold)).toBe(1)
    }),
  )
})

it('rows read as tuples of Python; long results are cut', () => {
  const row = [1n, 'a\n"\'\\', null, 2.5, 2, Number.POSITIVE_INFINITY, new Uint8Array([255, 0])]
  expect(rowText(row)).toBe(`(1, 'a\\n"\\'\\\\', None, 2.5, 2.0, inf, b'\\xff\\x00')`)
  expect(rowText(['x'])).toBe("('x',)")
  expect(resultText(['(1,)', '(2,)'], 100)).toBe('[(1,), (2,)]')
  expect(resultText(['(1,)', '(2,)'], 5)).toBe('[(1,) … (2 rows)')
})
