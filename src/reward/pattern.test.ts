import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matchesFromStart, patternProblem } from './pattern.js'
import { prepareReward } from './prepare.js'

describe('a pattern', () => {
  it('takes no longer for a text on which backtracking takes for ever', async () => {
    const response = `${'a'.repeat(50_000)}b`
    const start = performance.now()
    for (const pattern of ['^(a+)+$', '(a|a)*c', '(a*)*c', '(.*a){12}c']) {
      expect(matchesFromStart(pattern, response)).toBe(false)
      const { reward } = await prepareReward('format_reward', { pattern })({ response })
      expect(reward).toBe(-0.1)
    }
    expect(performance.now() - start).toBeLessThan(5000)
  })

  it('says what RegExp says', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '.',
      '\\s',
      '^',
      '$',
      'a*?',
      '(?:a|b)+',
      '[^a]',
      '\\n',
      '(?<x>b)?',
      '|',
      'b{2}',
    )
    const text = fc.array(fc.constantFrom('a', 'b', '\n', ' ')).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), text, (pieces, response) => {
        const pattern = pieces.join('')
        fc.pre(patternProblem(pattern) === undefined)
        expect(matchesFromStart(pattern, response)).toBe(new RegExp(pattern, 'smy').test(response))
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    ['(', 'not a regular expression'],
    ['a)(b', 'not a regular expression'],
    ['(?!a)b', 'linear time'],
    ['(a)\\1', 'linear time'],
  ])('%s is refused with its arguments', (pattern, problem) => {
    expect(patternProblem(pattern)).toContain(problem)
    expect(() => prepareReward('format_reward', { pattern })).toThrow(problem)
    expect(() => prepareReward('math_reward', { pattern })).toThrow(problem)
  })
})
