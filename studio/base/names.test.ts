import { expect, it } from 'vitest'
import { distinctNames } from './names.js'

it('runs of one name are told apart by the first folder that differs', () => {
  const names = distinctNames([
    { name: 'p/walk', path: '/data/one/p/walk' },
    { name: 'p/walk', path: '/data/two/p/walk' },
    { name: 'p/run', path: '/data/two/p/run' },
  ])
  expect(names).toEqual(['p/walk (one)', 'p/walk (two)', 'p/run'])
})
