import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { evaluatedCases, fingerprint } from './cases.js'

interface Golden {
  policy: string
  args: object
  mode: string
  kl: string
  loss: number
  logprob: number
  entropy: number
}
const golden = JSON.parse(readFileSync(join(import.meta.dirname, 'golden-losses.json'), 'utf8')) as Golden[]

// Written by autograd.python.test.ts with UPDATE_GOLDEN=1 from formulas in PyTorch, and compared with them there.
describe('losses and gradients against numbers that PyTorch gave', () => {
  const ours = evaluatedCases()
  it('cover every loss', () => expect(golden.length).toBe(ours.length))
  it.each(golden.map((one, k) => ({ ...one, k })))('$policy $args $mode + $kl', ({ k, ...theirs }) => {
    const { formula, got } = ours[k]
    expect([formula.policy, formula.args, formula.mode, formula.kl]).toEqual([
      theirs.policy,
      theirs.args,
      theirs.mode,
      theirs.kl,
    ])
    expect(got.loss).toBeCloseTo(theirs.loss, 9)
    expect(fingerprint(got.grads.logprob!)).toBeCloseTo(theirs.logprob, 6)
    expect(fingerprint(got.grads.entropy!)).toBeCloseTo(theirs.entropy, 6)
  })
})
