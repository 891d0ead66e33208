import fc from 'fast-check'
import { expect, it } from 'vitest'
import { defineLoss, type Expr, evaluateLoss, type LossRow, type LossTrace, silentRows } from './index.js'

/** Formulas in which a row can be silenced by its column `a`, through operations that bounds must follow. */
const formulas: Record<string, (g: LossTrace) => Expr> = {
  sign: (g) => g.column('a').sign().mul(g.logprob),
  'sign of a score': (g) => g.logprob.add(1).sign().mul(g.column('a')).mul(g.logprob),
  pow: (g) => g.column('a').abs().pow(1.5).mul(g.logprob.exp()),
  'pow of a score': (g) => g.logprob.exp().pow(0.5).mul(g.column('a')),
  'pow of what may be negative': (g) => g.logprob.pow(3).mul(g.column('a')),
  rowMax: (g) => g.column('a').abs().rowMax().toTokens().mul(g.logprob),
  'rowMax of scores': (g) => g.logprob.exp().rowMax().toTokens().mul(g.column('a')),
}

it.each(Object.entries(formulas))(
  '%s: a row is silent where its column is 0, and has no gradient then',
  (_, formula) => {
    const loss = defineLoss((g) => formula(g).total())
    const numbers = fc.array(fc.double({ min: -2, max: 2, noNaN: true }), { minLength: 3, maxLength: 3 })
    const scores = fc.array(fc.double({ min: -9, max: 0, noNaN: true }), { minLength: 6, maxLength: 6 })
    fc.assert(
      fc.property(numbers, scores, (column, logprob) => {
        const row = (a: Float32Array): LossRow => ({ mask: Uint8Array.of(1, 1, 0), columns: { a } })
        const rows = [row(Float32Array.from(column)), row(new Float32Array(3))]
        const silent = silentRows(loss.graph, rows, {})
        const grad = evaluateLoss(loss, rows, {}, { logprob: Float32Array.from(logprob) }).grads.logprob!
        expect(silent[1]).toBe(true)
        if (silent[0]) expect([...grad.subarray(0, 3)].map(Math.abs)).toEqual([0, 0, 0])
        expect([...grad.subarray(3)].map(Math.abs)).toEqual([0, 0, 0])
      }),
      { numRuns: 60 },
    )
  },
)
