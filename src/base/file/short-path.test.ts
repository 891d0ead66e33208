import { expect, it } from 'vitest'
import { shortPath } from './short-path.js'

it('is relative below this folder, and whole elsewhere', () => {
  expect(shortPath('/home/me/checkpoints/a', '/home/me')).toBe('checkpoints/a')
  expect(shortPath('/data/model', '/home/me')).toBe('/data/model')
  expect(shortPath('/home/me', '/home/me')).toBe('/home/me')
})
