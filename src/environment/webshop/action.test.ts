import { expect, it } from 'vitest'
import { clickOn, readAction } from './action.js'

const page = { hasSearchBar: false, clickables: ['buy now', 'wide [new]', '< prev'] }
const bar = { hasSearchBar: true, clickables: ['search'] }

it('reads searches where there is a search bar', () => {
  expect(readAction('search[Red Shoes]', bar)).toEqual({ kind: 'search', query: 'red shoes' })
  expect(readAction('search[a] and more]', bar)).toEqual({ kind: 'search', query: 'a] and more' })
  for (const text of ['search[]', 'search', 'search red', 'Search[red]', ' search[red]', 'I search[red]']) {
    expect(readAction(text, bar).kind).toBe('invalid')
  }
  expect(readAction('search[red]', page)).toMatchObject({ why: expect.stringContaining('Back to Search') })
})

it('reads clicks on what stands on the page, whatever the case', () => {
  expect(readAction('click[Buy Now]', page)).toEqual({ kind: 'click', name: 'buy now' })
  expect(readAction('click[< Prev] please', page)).toEqual({ kind: 'click', name: '< prev' })
  expect(readAction('click[wide [new]]', page)).toEqual({ kind: 'click', name: 'wide [new]' })
  expect(readAction('click[red]', page)).toMatchObject({ why: expect.stringContaining("['buy now', ") })
  expect(readAction(`click${'['.repeat(1e6)}`, page).kind).toBe('invalid')
  for (const text of ['', 'click', 'click[]', 'press[buy now]', 'click[buy\nnow]']) {
    expect(readAction(text, page).kind).toBe('invalid')
  }
})

it('knows names that no action can click', () => {
  expect([clickOn('buy now'), clickOn('wide [new]')]).toEqual(['click[buy now]', 'click[wide [new]]'])
  expect([clickOn(''), clickOn('two\nlines')]).toEqual([undefined, undefined])
})
