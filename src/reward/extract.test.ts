import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { extractAnswer } from './extract.js'

const r = String.raw

describe('extractAnswer', () => {
  it.each([
    [r`so \boxed{\frac{1}{2}} holds`, r`\frac{1}{2}`],
    [r`\boxed{1} then \boxed{2}`, '2'],
    [r`\boxed{\boxed{3}}`, '3'],
    [r`$\boxed 5$ and more`, '5'],
    [r`\fbox{7}`, '7'],
    [r`\boxed{\{1, 2\}}`, r`\{1, 2\}`],
    [r`\boxed{}`, ''],
    [r`\boxed{12`, null],
    ['12', null],
  ])('boxed: %s', (text, answer) => {
    expect(extractAnswer(text, 'boxed')).toBe(answer)
  })

  it.each([
    ['The final answer is 100.', '100'],
    ['答案是x^2', 'x^2'],
    ['1,000 apples and 2,000 oranges', '2000'],
    [r`\boxed{}`, null],
    ["Kim's total points are 6 + 30 = 36", '36'],
    ['The answer is 5 because 3 + 2 gives it', '5'],
    [r`We get $x^2 + 1$ in the end`, 'x^2 + 1'],
    ['**Answer:** 42', '42'],
    ['it falls by -3.5 degrees then', '-3.5'],
    ['36.0', '36.0'],
    ['Result: 5', '5'],
    ['6 + 30 = 36\n#### 36', '36'],
    ['3\n\n4', '4'],
    ['', null],
  ])('final: %s', (text, answer) => {
    expect(extractAnswer(text, 'final')).toBe(answer)
  })

  it('reads tags over lines, the first or the last', () => {
    const text = '<answer>\n1\n</answer> <answer> 2 </answer>'
    expect(extractAnswer(text, 'answer_tag')).toBe('1')
    expect(extractAnswer(text, 'last_answer_tag')).toBe('2')
    expect(extractAnswer('<answer>1', 'answer_tag')).toBeNull()
    expect(extractAnswer('</answer> 1 <answer>', 'last_answer_tag')).toBeNull()
  })

  it('reads what follows ####', () => {
    expect(extractAnswer('6 + 30 = 36\n#### 36', 'gsm8k')).toBe('36')
    expect(extractAnswer('36', 'gsm8k')).toBeNull()
  })

  it('gives null for what is no text', () => {
    for (const value of [undefined, null, 5, {}]) expect(extractAnswer(value, 'final')).toBeNull()
  })

  it('never throws', () => {
    const mode = fc.constantFrom('boxed', 'answer_tag', 'last_answer_tag', 'gsm8k', 'final' as const)
    const text = fc
      .array(
        fc.constantFrom('<answer>', '</answer>', '\\boxed{', '}', '$', '####', '=', ' 5 ', 'answer is', 'word ', '\n'),
      )
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.oneof(text, fc.string()), mode, (value, m) => {
        const answer = extractAnswer(value, m)
        expect(answer === null || typeof answer === 'string').toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
})
