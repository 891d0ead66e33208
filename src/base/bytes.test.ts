import { expect, it } from 'vitest'
import { bytes } from './bytes.js'

it('says sizes with at most three digits', () => {
  expect([0, 999, 1000, 1024, 1536, 150 * 2 ** 20, 23.4 * 2 ** 30].map(bytes)).toEqual([
    '0 B',
    '999 B',
    '1.0 KiB',
    '1.0 KiB',
    '1.5 KiB',
    '150 MiB',
    '23.4 GiB',
  ])
  expect(bytes(-5)).toBe('0 B')
})
