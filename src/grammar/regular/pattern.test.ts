import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Pcg64 } from '../../base/random/index.js'
import { inJson, plainly } from './characters.js'
import { Expressions } from './expression.js'
import { recognizer } from './language.fixture.js'
import { patternExpression } from './pattern.js'

const PATTERNS = [
  ...[
    'abc',
    '^abc',
    'abc$',
    '^abc$',
    '^(ab|cd)$',
    '^(?:a|b)+c?$',
    '(^a|b$)',
    '^a{2,3}$',
    '^a{2}b{1,}$',
    '^a*?b+?$',
    '',
  ],
  ...[
    '[a-c]',
    '^[^a-c]$',
    '^[\\d\\-x]+$',
    '^[-a]$',
    '^\\w+\\s\\W$',
    '^.$',
    '^\\S\\D$',
    '\\.',
    '^\\u0061\\x62\\u{63}$',
    '^\\t\\n$',
  ],
  ...[
    '^\\p{L}+$',
    '^\\P{L}$',
    '^[\\p{Lu}_]$',
    '^\\ud83d\\ude42$',
    '^🙂?$',
    '^(?<name>x)y$',
    '^(a|)b$',
    '^$',
    '^[^]$',
    '^((a|b)(c|d)){2}$',
  ],
  ...['^\\/\\^\\$\\*$', 'a|^b|c$', '^\\cJ$', '^[\\b]$', '^\\0$', '^é|ü$', '^"\\\\"$'],
]

/** fast-check cannot make texts for these. */
const UNMADE = ['', '^[\\b]$', '^\\0$']

/** Full of what the patterns are about. */
const texts = fc.string({
  unit: fc.constantFrom(...'abcdxy01 .-_"\\/^$*é\t\n\r\b\0🙂Ünl\u2028'),
  maxLength: 6,
})

describe('patterns', () => {
  const all = new Expressions()
  it.each(PATTERNS)('%j fits what a regular expression of JavaScript finds', (pattern) => {
    const reference = new RegExp(pattern, 'u')
    const options = { covers: 'somewhere', path: '' } as const
    const fits = recognizer(all, patternExpression(all, pattern, { ...options, spelling: plainly }))
    const fitsInJson = recognizer(all, patternExpression(all, pattern, { ...options, spelling: inJson }))
    const check = (text: string) => {
      if (/\p{Surrogate}/u.test(text)) return
      expect(fits(text), JSON.stringify(text)).toBe(reference.test(text))
      expect(fitsInJson(JSON.stringify(text).slice(1, -1)), JSON.stringify(text)).toBe(reference.test(text))
    }
    fc.assert(fc.property(texts, check), { numRuns: 40 })
    if (!UNMADE.includes(pattern)) fc.assert(fc.property(fc.stringMatching(reference), check), { numRuns: 10 })
  })

  it('can be meant for the whole text', () => {
    const fits = recognizer(all, patternExpression(all, 'a|bc', { spelling: plainly, covers: 'whole', path: '' }))
    expect(['a', 'bc', 'ac', 'abc', 'xa', ''].map(fits)).toEqual([true, true, false, false, false, false])
  })

  it.each([
    ['(?=a)', 'looks ahead'],
    ['(?<!a)b', 'looks ahead or behind'],
    ['(a)\\1', 'refers back'],
    ['\\bword', 'not known'],
    ['a**', 'nothing to repeat'],
    ['(a', 'not closed'],
    ['a)', "without its '('"],
    ['[z-a]', 'out of order'],
    ['[a', 'too soon'],
    ['a{3,2}', 'out of order'],
    ['a^b', 'middle'],
    ['(^a)*', 'middle'],
    ['\\p{Nothing}', 'no property'],
    ['('.repeat(200), 'nested'],
    ['a'.repeat(20_000), 'longer'],
  ])('what cannot be followed is refused with its reason (%#)', (pattern, why) => {
    expect(() =>
      patternExpression(all, pattern, { spelling: plainly, covers: 'somewhere', path: '#/pattern' }),
    ).toThrow(
      expect.objectContaining({ code: 'grammar/pattern', path: '#/pattern', message: expect.stringContaining(why) }),
    )
  })

  it('counts far beyond what could be unrolled', () => {
    const fits = recognizer(
      all,
      patternExpression(all, '^(ab){1000,100000}$', { spelling: plainly, covers: 'somewhere', path: '' }),
    )
    expect(fits('ab'.repeat(1000))).toBe(true)
    expect(fits('ab'.repeat(999))).toBe(false)
  })

  it('says so when a pattern needs states without end', () => {
    const pattern = '^(a|b)*a(a|b){16}$'
    const fits = recognizer(all, patternExpression(all, pattern, { spelling: plainly, covers: 'somewhere', path: '' }))
    const random = new Pcg64(1)
    const noise = Array.from({ length: 150_000 }, () => (random.random() < 0.5 ? 'a' : 'b')).join('')
    expect(() => fits(noise)).toThrow(expect.objectContaining({ code: 'grammar/too-complex' }))
  })
})
