import { expect, it } from 'vitest'
import { fileBeside } from './file-beside.js'

it('lies beside what it was made from, or in the first folder', () => {
  expect(fileBeside({}, '/f', 'p-n')).toEqual({ folder: '/f', path: 'p-n.yaml' })
  const place = { folder: '/g', path: 'a/b/c.yaml' }
  expect(fileBeside({ place }, '/f', 'p-n')).toEqual({ folder: '/g', path: 'a/b/p-n.yaml' })
})
