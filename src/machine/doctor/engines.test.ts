import { describe, expect, it } from 'vitest'
import type { Check } from './check.js'
import { verdicts } from './engines.js'

const addon: Check = { id: 'addon', section: 'runtime', name: 'addon', status: 'ok', required: true, found: 'ok' }

describe('what the checks mean for the engines', () => {
  it('is what each engine says of itself', () => {
    const verdict = (checks: readonly Check[]) => ({ ready: checks.includes(addon), why: 'the addon' })
    const known = [{ name: 'one', verdict }, { name: 'quiet' }]
    expect(verdicts([addon], known)).toEqual([{ engine: 'one', ready: true, why: 'the addon' }])
    expect(verdicts([], known)[0].ready).toBe(false)
  })
})
