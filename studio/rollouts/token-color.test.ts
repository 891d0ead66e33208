import { describe, expect, it } from 'vitest'
import { availableColorings, tokenClasses, tokenText } from './token-color.js'

const columns = { promptLength: 1, id: [1, 2, 3, 4], mask: [1, 1, 1] as (0 | 1)[] }

describe('colors of tokens', () => {
  it('are stronger for what was less likely', () => {
    expect(tokenClasses({ ...columns, logprob: [0, -2.5, -100] }, 'logprob')).toEqual(['', 'h6', 'h8'])
  })
  it('have a side for what has a sign, and compare with the greatest', () => {
    expect(tokenClasses({ ...columns, advantage: [2, -1, null] }, 'advantage')).toEqual(['u8', 'd4', ''])
    expect(tokenClasses({ ...columns, advantage: [0, 0, 0] }, 'advantage')).toEqual(['', '', ''])
  })
  it('show what is trained on, and nothing else', () => {
    const mixed = { ...columns, mask: [1, 0, 1] as (0 | 1)[], logprob: [-5, -5, -5] }
    expect(tokenClasses(mixed, 'mask')).toEqual(['h3', 'given', 'h3'])
    expect(tokenClasses(mixed, 'logprob')).toEqual(['h8', 'given', 'h8'])
  })
  it('are offered for what is on record', () => {
    expect(availableColorings({ ...columns, entropy: [0, 0, 0] })).toEqual(['entropy', 'mask'])
  })
})

it('no token is invisible', () => {
  expect([tokenText('a\n', 5), tokenText('', 5), tokenText(undefined, 5)]).toEqual(['a↵\n', '·', ' 5'])
})
