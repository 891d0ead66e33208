import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { Expr, LossTrace } from '../graph/index.js'
import { buildLoss } from './loss.js'
import { policyLoss } from './policy-loss/policy-loss.js'
import { policyLossFns } from './policy-loss/registry.js'

let made = 0
const args = z.strictObject({})
const code = readFileSync(import.meta.filename, 'utf8').split('\n')

/** What building a loss of this formula throws, and the text of the line that it names. */
function failing(formula: (g: LossTrace, agg: (x: Expr) => Expr) => Expr) {
  const name = `bad_${made++}`
  policyLossFns.add(name, policyLoss({ doc: 'wrong', args, build: (g, _, { agg }) => formula(g, agg) }))
  try {
    buildLoss({ policy_loss_fn: name })
  } catch (error) {
    const { message, path, code: kind } = error as { message: string; path: string; code: string }
    const [, file, line] = /^(.*):(\d+):\d+$/.exec(path)!
    expect(file).toBe(import.meta.filename)
    expect(message).toContain(`policy loss '${name}'`)
    return { message, kind, line: code[Number(line) - 1] }
  }
  throw new Error('it was built')
}

it('a misspelled method is named with the line that calls it', () => {
  const { message, kind, line } = failing((g, agg) => agg((g.logprob as unknown as { ex: () => Expr }).ex()))
  expect(kind).toBe('algorithm/bad-formula')
  expect(message).toContain('is not a function')
  expect(line).toContain('.ex()')
})

it('so is a mix of rows and tokens, and a loss that was not summed up', () => {
  const mixed = failing((g, agg) => agg(g.logprob.mul(g.rowColumn('weight'))))
  expect(mixed).toMatchObject({ kind: 'graph/invalid', line: expect.stringContaining("rowColumn('weight')") })
  const row = failing((g, agg) => agg(g.logprob.rowSum()))
  expect(row).toMatchObject({ kind: 'graph/invalid', line: expect.stringContaining('rowSum()') })
})

it('a formula that gives no number is named with its key', () => {
  const given = (formula: (g: LossTrace) => Expr) => {
    const name = `bad_${made++}`
    policyLossFns.add(name, policyLoss({ doc: 'wrong', args, build: formula }))
    return () => buildLoss({ policy_loss_fn: name })
  }
  const path = 'algorithm.policy_loss_fn'
  expect(given((g) => g.logprob)).toThrowError(
    expect.objectContaining({ path, message: expect.stringMatching(/policy loss 'bad_\d+' gives a token value/) }),
  )
  expect(given(() => undefined as unknown as Expr)).toThrowError(/gives nothing/)
})
