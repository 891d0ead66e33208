import { describe, expect, it } from 'vitest'
import { ChatTemplate } from '../chat-template.js'
import { cases } from './cases.fixture.js'
import { floatText } from './print.js'

describe('templates render as in Python', () => {
  it.each(cases)('$template', ({ template, messages, text }) => {
    expect(new ChatTemplate(template).render(messages)).toBe(text)
  })

  it('floats have the digits of repr', () => {
    const known: [number, string][] = [
      [0, '0.0'],
      [1e15, '1000000000000000.0'],
      [1e16, '1e+16'],
      [0.0001, '0.0001'],
      [0.00001234, '1.234e-05'],
      [-1.5e-7, '-1.5e-07'],
      [123.456, '123.456'],
      [5e-324, '5e-324'],
      [0.0012, '0.0012'],
    ]
    for (const [x, text] of known) expect(floatText(x)).toBe(text)
  })
})
