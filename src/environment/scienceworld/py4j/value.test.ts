import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { call, construct, free } from './command.js'
import { decodeReply, encodeArgument, fromLine, type JavaArgument, JavaReference, toLine } from './value.js'

/** What py4j sends back when it is handed an argument: the same text behind its mark of success. */
const echoed = (value: JavaArgument) => decodeReply(`!y${encodeArgument(value)}`)

const anyText = fc.oneof(
  fc.string({ unit: 'binary-ascii' }),
  fc.string({ unit: fc.constantFrom('\\', '\n', '\r', 'n', 'r', 'ü', '😀', ' ', '\u2028', '\0', 'a') }),
)

describe('texts on one line', () => {
  it('any text comes back, and never takes a second line', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(toLine(text)).not.toMatch(/[\n\r]/)
        expect(fromLine(toLine(text))).toBe(text)
      }),
    )
  })

  it('is what py4j writes', () => {
    expect(toLine('a\\n\nb\rc')).toBe('a\\\\n\\nb\\rc')
    expect(fromLine('\\\\n\\n\\x\\')).toBe('\\n\nx')
  })
})

describe('values', () => {
  it.each<[JavaArgument, string]>([
    ['boil', 'sboil'],
    ['', 's'],
    [true, 'btrue'],
    [7, 'i7'],
    [-2147483648, 'i-2147483648'],
    [2147483648, 'd2147483648'],
    [0.5, 'd0.5'],
    [Number.NaN, 'dnan'],
    [Number.NEGATIVE_INFINITY, 'd-inf'],
    [9007199254740993n, 'L9007199254740993'],
    [null, 'n'],
    [new Uint8Array([0, 255]), 'jAP8='],
    [new JavaReference('o12'), 'ro12'],
  ])('%o is sent as %s, and understood when it comes back', (value, line) => {
    expect(encodeArgument(value)).toBe(line)
    expect(echoed(value)).toEqual({ isOk: true, value })
  })

  it('any number, text or truth comes back', () => {
    const numbers = fc.oneof(fc.integer(), fc.double(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))
    fc.assert(
      fc.property(fc.oneof(anyText, fc.boolean(), numbers), (value) => {
        // Java's zero has no sign in an int
        expect(echoed(value).value).toEqual(Object.is(value, -0) ? 0 : value)
      }),
    )
  })

  it.each([
    ['!yv', undefined],
    ['!yn', null],
    ['!yd1.0E-5', 1e-5],
    ['!ydNaN', Number.NaN],
    ['!ydInfinity', Number.POSITIVE_INFINITY],
    ['!ylo3', new JavaReference('o3')],
    ['!yto4', new JavaReference('o4')],
  ])('%s', (line, value) => {
    expect(decodeReply(line)).toEqual({ isOk: true, value })
  })

  it('errors are told apart', () => {
    expect(decodeReply('!x')).toEqual({ isOk: false, value: null })
    expect(decodeReply('!xro3')).toEqual({ isOk: false, value: new JavaReference('o3') })
    expect(decodeReply('!xsno method\\n\tat py4j')).toEqual({ isOk: false, value: 'no method\n\tat py4j' })
  })

  it('anything is a reply or refused in words', () => {
    const begun = fc
      .tuple(fc.constantFrom('!y', '!x', ''), fc.string({ unit: 'binary' }))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(begun, (line) => {
        try {
          expect(decodeReply(line)).toHaveProperty('isOk')
        } catch (error) {
          expect(error).toMatchObject({ code: 'environment/py4j' })
        }
      }),
    )
    for (const line of [
      '',
      'HTTP/1.1 400',
      '!y',
      '!yi1.5',
      '!yi',
      '!ybmaybe',
      '!yr',
      '!yro 1',
      '!yz',
      '!yLx',
      '!yd.e',
      '!ynull',
    ]) {
      expect(() => decodeReply(line)).toThrow("what is not py4j's protocol")
    }
    expect(() => decodeReply('x'.repeat(1000))).toThrow(/x{80}…"$/)
  })
})

describe('commands', () => {
  it('are the lines that the Python package was seen to send', () => {
    expect(construct('scienceworld.runtime.pythonapi.PythonInterface')).toBe(
      'i\nscienceworld.runtime.pythonapi.PythonInterface\ne\n',
    )
    expect(call(new JavaReference('o0'), 'load', 'boil', 0, 'easy', true)).toBe(
      'c\no0\nload\nsboil\ni0\nseasy\nbtrue\ne\n',
    )
    expect(call('java.lang.System', 'gc')).toBe('c\nz:java.lang.System\ngc\ne\n')
    expect(free(new JavaReference('o5'))).toBe('m\nd\no5\ne\n')
  })
})
