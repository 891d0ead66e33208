import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TrinityError } from '../../../base/error.js'
import { type Lisp, readLisp, sectionsOf } from './lisp.js'

describe('readLisp', () => {
  it('reads lists of lists in lower case, without comments', () => {
    expect(readLisp('; a comment (\n(Define (A ?x?y -z) ; more\n ())', 'p')).toEqual([
      'define',
      ['a', '?x', '?y', '-z'],
      [],
    ])
  })

  it.each([
    ['', 'a closing parenthesis is missing'],
    ['(a', 'a closing parenthesis is missing'],
    ['a b', "begins with 'a b'"],
    ['(a) (b)', 'after the last parenthesis'],
    ['(a))', 'after the last parenthesis'],
  ])('says what is wrong with %j', (text, message) => {
    expect(() => readLisp(text, 'game')).toThrow(message)
  })

  it('refuses what is nested too deeply to be walked', () => {
    expect(() => readLisp('('.repeat(100_000), 'game')).toThrow('nested more than 200 deep')
  })

  it('reads what it wrote, and throws nothing raw', () => {
    const word = fc.stringMatching(/^[a-z?][a-z0-9_-]{0,5}$/)
    const { list } = fc.letrec<{ list: Lisp[]; item: Lisp }>((tie) => ({
      list: fc.array(tie('item'), { maxLength: 4 }),
      item: fc.oneof({ maxDepth: 5 }, word, tie('list')),
    }))
    const write = (lisp: Lisp): string => (typeof lisp === 'string' ? lisp : `(${lisp.map(write).join(' \n')})`)
    fc.assert(
      fc.property(list, (lisp) => {
        expect(readLisp(write(lisp), 'p')).toEqual(lisp)
      }),
    )
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('(', ')', 'a', '?', ';', '\n', ' ', 'É'), maxLength: 40 }),
        (text) => {
          try {
            readLisp(text, 'p')
          } catch (error) {
            expect(error).toBeInstanceOf(TrinityError)
          }
        },
      ),
    )
  })
})

describe('sectionsOf', () => {
  it('wants a definition', () => {
    expect(sectionsOf('(define (a) (:b c))', 'p')).toEqual([['a'], [':b', 'c']])
    expect(() => sectionsOf('(problem)', 'p')).toThrow("'(define'")
    expect(() => sectionsOf('(define word)', 'p')).toThrow("a section is 'word' instead of a list")
  })
})
