import { describe, expect, it } from 'vitest'
import type { Check } from './check.js'
import { verdicts } from './engines.js'

const addon: Check = { id: 'addon', section: 'runtime', name: 'addon', status: 'ok', required: true, found: 'ok' }

describe('what the checks mean for the engines', () => {
  it('is what each engine says of itself', () => {
    const verdict = (checks: readonly Check[]) => ({ ready: checks.includes(addon), why: 'the addon' })
    const known = { here: [{ name: 'one', verdict }, { name: 'quiet' }], elsewhere: [{ name: 'two' }] }
    expect(verdicts([addon], known)).toEqual([
      { engine: 'one', ready: true, why: 'the addon' },
      { engine: 'two', ready: false, why: 'not part of this version' },
    ])
    expect(verdicts([], known)[0].ready).toBe(false)
  })
})
