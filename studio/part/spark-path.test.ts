import { describe, expect, it } from 'vitest'
import { sparkPath } from './spark-path.js'

describe('a spark line', () => {
  it('goes from the bottom to the top', () => expect(sparkPath([0, 1], 100, 24)).toBe('M0.0 22.0L100.0 2.0'))
  it('lifts the pen over a gap', () => expect(sparkPath([0, null, 1], 100, 24)).toBe('M0.0 22.0M100.0 2.0'))
  it('is flat for one value, and nothing for none', () => {
    expect(sparkPath([3], 100, 24)).toBe('M0 22.0H100')
    expect(sparkPath([null], 100, 24)).toBe('')
  })
})
