import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { numberOf, readPlace, writePlace } from './place.js'

describe('the address', () => {
  it('names a view', () => {
    expect(readPlace('#/runs/a1/charts?smooth=0.6&search=actor%2Floss')).toEqual({
      path: ['runs', 'a1', 'charts'],
      query: { smooth: '0.6', search: 'actor/loss' },
    })
    expect(readPlace('')).toEqual({ path: [], query: {} })
  })

  it('survives being written and read, whatever is in it', () => {
    const text = fc.string({ minLength: 1, unit: 'grapheme' })
    fc.assert(
      fc.property(fc.array(text), fc.dictionary(text, text, { noNullPrototype: true }), (path, query) => {
        expect(readPlace(writePlace({ path, query }))).toEqual({ path, query })
      }),
    )
  })

  it('leaves out what is empty', () => expect(writePlace({ path: ['runs'], query: { search: '' } })).toBe('#/runs'))
  it('opens when an escape was cut', () => expect(readPlace('#/runs/%E0%A4').path).toEqual(['runs', '%E0%A4']))
  it('knows numbers', () =>
    expect(['1.5', '', ' ', 'x', undefined, '-2'].map(numberOf)).toEqual([
      1.5,
      undefined,
      undefined,
      undefined,
      undefined,
      -2,
    ]))
})
