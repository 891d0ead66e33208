import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Grammar } from '../grammar.js'
import { Machine, NOWHERE } from '../machine.js'
import { inJson } from '../regular/characters.js'
import { recognizer } from '../regular/language.fixture.js'
import { patternExpression } from '../regular/pattern.js'
import { formatNames, formatPattern } from './format.js'
import { numberBetween } from './number-range.js'
import { JsonText } from './text.js'

describe('any JSON', () => {
  const grammar = new Grammar()
  const text = new JsonText(grammar)
  const machine = new Machine(grammar, text.value)
  const accepts = (document: string) => {
    const place = machine.after(machine.start, Buffer.from(document))
    return place !== NOWHERE && machine.mayEnd(place)
  }

  it('is what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.json({ depthSize: 'medium' }), (document) => {
        const value = JSON.parse(document)
        if (/e[+-]\d{3}|\d{21}/.test(document)) return
        for (const indent of [0, 1, 4, '\t']) expect(accepts(JSON.stringify(value, null, indent))).toBe(true)
      }),
      { numRuns: 100 },
    )
  })

  it('is nothing that JSON.parse refuses', () => {
    const noise = fc.string({ unit: fc.constantFrom(...'{}[]",:0123-+.eE\\untrfalsd89 \n\té'), maxLength: 12 })
    fc.assert(
      fc.property(noise, (document) => {
        if (accepts(document)) JSON.parse(document)
      }),
      { numRuns: 2000 },
    )
    for (const fine of ['"\\u00e9\\ud83d\\ude42\\/"', '-0', '1E+5', '[ 1 ]', '{\n}', '{"a": [],"a":{} }']) {
      expect(accepts(fine), fine).toBe(true)
    }
    // halves of pairs alone, whitespace without end, numbers that no reader holds
    for (const odd of [
      '"\\ud83d"',
      '"\\ude42"',
      '[  1]',
      '[1]\n',
      '[\n\n1]',
      `[${'\n'}${' '.repeat(65)}1]`,
      '1e999',
      '9'.repeat(21),
    ]) {
      expect(accepts(odd), odd).toBe(false)
    }
  })

  it('a constant is written as it is, with or without whitespace', () => {
    const value = { a: [1, 'x', {}, []], 'b"': null }
    const compact = new Machine(grammar, new JsonText(grammar, 'compact').constant(value))
    const loose = new Machine(grammar, text.constant(value))
    const reads = (one: Machine, document: string) => {
      const place = one.after(one.start, Buffer.from(document))
      return place !== NOWHERE && one.mayEnd(place)
    }
    expect(reads(compact, JSON.stringify(value))).toBe(true)
    expect(reads(compact, JSON.stringify(value, null, 1))).toBe(false)
    expect(reads(loose, JSON.stringify(value, null, 2))).toBe(true)
    expect(reads(loose, JSON.stringify({ ...value, a: [] }))).toBe(false)
  })
})

describe('numbers between bounds', () => {
  const bound = fc.option(
    fc.oneof(
      fc.integer({ min: -250, max: 250 }),
      fc.integer({ min: -9999, max: 9999 }).map((n) => n / 100),
      fc.constantFrom(0, 1e15, -1e-7, 0.001),
    ),
    { nil: undefined },
  )
  const written = fc.oneof(
    fc.integer({ min: -300, max: 300 }).map(String),
    fc
      .tuple(fc.integer({ min: -120, max: 120 }), fc.nat(9999), fc.nat(2))
      .map(([n, f, zeros]) => `${n}.${String(f).padStart(4, '0')}${'0'.repeat(zeros)}`),
    fc.constantFrom(
      '0',
      '0.0',
      '0.0000001',
      '-0.0000001',
      '1000000000000000',
      '1000000000000000.5',
      '0.001',
      '0.00100',
    ),
  )

  it('are those that compare so', () => {
    fc.assert(
      fc.property(
        bound,
        bound,
        fc.boolean(),
        fc.boolean(),
        fc.array(written, { minLength: 20 }),
        (min, max, minOpen, maxOpen, numbers) => {
          const { regular } = new Grammar()
          const text = new JsonText(Object.assign(new Grammar(), { regular }))
          const expression = numberBetween(text, { min, max, minOpen, maxOpen }, 20)
          const fits = recognizer(text.all, expression!)
          const edges = [min, max].flatMap((edge) =>
            edge === undefined || /e/.test(String(edge)) ? [] : [String(edge)],
          )
          for (const number of [...numbers, ...edges]) {
            const value = Number(number)
            const above = min === undefined || (minOpen ? value > min : value >= min)
            const under = max === undefined || (maxOpen ? value < max : value <= max)
            expect(fits(number), `${number} in ${JSON.stringify({ min, max, minOpen, maxOpen })}`).toBe(above && under)
          }
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('formats', () => {
  const { regular } = new Grammar()
  const CASES: Record<string, [fine: string[], wrong: string[]]> = {
    date: [
      ['2024-02-29', '2000-02-29', '1999-12-31'],
      ['2023-02-29', '1900-02-29', '2024-13-01', '2024-04-31', '24-01-01'],
    ],
    time: [
      ['12:30:59Z', '00:00:00.123+05:30'],
      ['24:00:00Z', '12:60:00Z', '12:00:00'],
    ],
    'date-time': [['2024-02-29T12:00:00Z'], ['2024-02-30T12:00:00Z', '2024-02-29 12:00:00Z']],
    duration: [
      ['P1Y2M3DT4H5M6S', 'PT36H', 'P4W', 'P1M', 'PT1M'],
      ['P', 'PT', '1Y', 'P1S', 'P1YT'],
    ],
    uuid: [
      ['123e4567-e89b-12d3-a456-426614174000'],
      ['123e4567e89b12d3a456426614174000', 'x23e4567-e89b-12d3-a456-426614174000'],
    ],
    email: [['a.b+c@d-e.org'], ['a@b', '.a@b.org', 'a b@c.org', '@c.org']],
    hostname: [
      ['a', 'a-b.example.com'],
      ['-a.com', 'a..b', 'a_b'],
    ],
    ipv4: [
      ['0.0.0.0', '255.249.199.9'],
      ['256.0.0.1', '1.2.3', '01.2.3.4'],
    ],
    ipv6: [
      ['::', '::1', '1::', 'fe80::1:2', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7::', '::2:3:4:5:6:7:8'],
      ['1:2', ':::', '1::2::3', '12345::', '1:2:3:4:5:6:7:8:9'],
    ],
    uri: [
      ['https://example.org/a?b=c#d', 'ftp://host:21'],
      ['example.org', 'http://', 'http://a b'],
    ],
  }

  it('all have cases', () => expect(Object.keys(CASES).sort()).toEqual([...formatNames].sort()))

  it.each(Object.entries(CASES))('%s', (name, [fine, wrong]) => {
    const expression = patternExpression(regular, formatPattern(name)!, { spelling: inJson, covers: 'whole', path: '' })
    const fits = recognizer(regular, expression)
    expect(fine.filter((text) => !fits(text))).toEqual([])
    expect(wrong.filter(fits)).toEqual([])
  })
})
