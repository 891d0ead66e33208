import { expect, it } from 'vitest'
import { distinctNames, shortNames } from './names.js'

it('runs of one name are told apart by the first folder that differs', () => {
  const names = distinctNames([
    { name: 'p/walk', path: '/data/one/p/walk' },
    { name: 'p/walk', path: '/data/two/p/walk' },
    { name: 'p/run', path: '/data/two/p/run' },
  ])
  expect(names).toEqual(['p/walk (one)', 'p/walk (two)', 'p/run'])
})

it('a legend leaves out the folders that all runs share, and never a whole name', () => {
  expect(shortNames(['p/g/a', 'p/g/b', 'p/h/a'])).toEqual(['g/a', 'g/b', 'h/a'])
  expect(shortNames(['p/a', 'p/a'])).toEqual(['a', 'a'])
  expect(shortNames(['a', 'p/a'])).toEqual(['a', 'p/a'])
})
