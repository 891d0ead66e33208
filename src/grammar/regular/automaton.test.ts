import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Automaton, DEAD } from './automaton.js'
import { ANY, complement, intersection, plainly, union, without } from './characters.js'
import { clamped } from './clamp.js'
import { EMPTY, type Expression, Expressions, mergedRanges, NEVER } from './expression.js'
import { recognizer } from './language.fixture.js'

describe('the automaton of expressions', () => {
  const all = new Expressions()
  const [a, b] = [all.text('a'), all.text('b')]

  it('knows intersections and complements, and that nothing is left of some', () => {
    const even = all.repeat(all.seq(a, a), 0)
    const thirds = all.repeat(all.seq(a, a, a), 0)
    const fits = recognizer(all, all.and(even, thirds, all.not(EMPTY)))
    expect([0, 1, 2, 3, 4, 6, 9, 12].filter((count) => fits('a'.repeat(count)))).toEqual([6, 12])
    const automaton = new Automaton(all)
    expect(automaton.state(all.and(even, all.seq(a, even)))).toBe(DEAD)
    expect(automaton.isAlive(all.and(thirds, all.repeat(a, 4, 5)))).toBe(false)
    expect(automaton.isAlive(all.and(thirds, all.repeat(a, 4, 6)))).toBe(true)
  })

  it('never leads where nothing fits any more', () => {
    // "aab…" begins like both, and has no end in both
    const automaton = new Automaton(all)
    const both = all.and(all.seq(a, all.alt(a, all.seq(b, b))), all.seq(a, all.alt(all.seq(a, b), all.seq(b, b))))
    const start = automaton.state(both)
    const after = automaton.next(start, 0x61)
    expect(automaton.next(after, 0x61)).toBe(DEAD)
    expect(automaton.next(after, 0x62)).not.toBe(DEAD)
    expect([automaton.isOver(after), automaton.isOver(automaton.next(automaton.next(after, 0x62), 0x62))]).toEqual([
      false,
      true,
    ])
  })

  it('keeps every expression once', () => {
    expect(all.alt(a, b, a, NEVER)).toBe(all.alt(b, a))
    expect(all.seq(all.seq(a, b), a)).toBe(all.seq(a, all.seq(b, a)))
    expect(all.and(a, all.not(NEVER))).toBe(a)
    expect(all.not(all.not(a))).toBe(a)
    expect(all.oneOf(['ab', 'ac', 'ab'])).toBe(all.seq(a, all.bytes([0x62, 0x63])))
  })

  it('counts remainders', () => {
    const fits = recognizer(all, all.multiple(7))
    const numbers = Array.from({ length: 200 }, (_, i) => i + 1)
    expect(numbers.filter((n) => fits(String(n)))).toEqual(numbers.filter((n) => n % 7 === 0))
  })

  it('clamped, it allows the same next bytes', () => {
    const counted = (min: number, more: number): Expression =>
      all.seq(all.repeat(all.alt(a, all.seq(b, b)), min, min + more), b)
    fc.assert(
      fc.property(
        fc.nat(30),
        fc.nat(30),
        fc.array(fc.constantFrom(0x61, 0x62), { maxLength: 5 }),
        (min, more, bytes) => {
          const automaton = new Automaton(all)
          const walk = (from: Expression) =>
            bytes.reduce((state, byte) => automaton.next(state, byte), automaton.state(from))
          const [full, short] = [walk(counted(min, more)), walk(clamped(all, counted(min, more), 5))]
          expect([short === DEAD, automaton.isFinal(short)]).toEqual([full === DEAD, automaton.isFinal(full)])
        },
      ),
    )
    expect(clamped(all, counted(10, 500), 5)).toBe(clamped(all, counted(20, 700), 5))
  })
})

describe('characters', () => {
  const ranges = fc
    .array(fc.tuple(fc.nat(0x10ffff), fc.oneof(fc.nat(3), fc.nat(5000))), { minLength: 1, maxLength: 4 })
    .map((list) => mergedRanges(list.map(([low, length]) => [low, Math.min(low + length, 0x10ffff)])))
  const has = (set: readonly number[], code: number) =>
    set.some((low, i) => i % 2 === 0 && code >= low && code <= set[i + 1])

  it('of a set are exactly those, as UTF-8', () => {
    const codes = fc.oneof(fc.nat(0x10ffff), fc.constantFrom(0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0x10000, 0xd7ff, 0xe000))
    fc.assert(
      fc.property(ranges, fc.array(codes), (set, some) => {
        const all = new Expressions()
        const fits = recognizer(all, plainly(all, set))
        for (const code of [...some, ...set, ...set.map((edge) => edge + 1)]) {
          if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) continue
          expect(fits(String.fromCodePoint(code)), code.toString(16)).toBe(has(set, code))
        }
      }),
    )
    const all = new Expressions()
    const any = recognizer(all, all.repeat(plainly(all, ANY), 0))
    // too long, half of a pair, a lone tail, beyond the last
    for (const broken of [[0xc0, 0x80], [0xed, 0xa0, 0x80], [0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]) {
      expect(any(Uint8Array.from(broken))).toBe(false)
    }
  })

  it('sets are joined, cut and turned over', () => {
    fc.assert(
      fc.property(ranges, ranges, fc.array(fc.nat(0x10ffff)), (one, other, codes) => {
        for (const code of [...codes, ...one, ...other]) {
          const [inOne, inOther] = [has(one, code), has(other, code)]
          expect(has(union(one, other), code)).toBe(inOne || inOther)
          expect(has(intersection(one, other), code)).toBe(inOne && inOther)
          expect(has(without(one, other), code)).toBe(inOne && !inOther)
          expect(has(complement(one), code)).toBe(!inOne)
        }
      }),
    )
  })
})
