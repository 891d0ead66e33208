import { expect, it } from 'vitest'
import { crc32, tableCrc32 } from './crc.js'

it('computes the standard CRC-32, with and without the built-in one', () => {
  const check = Buffer.from('123456789')
  expect([crc32(check), tableCrc32(check)]).toEqual([0xcbf43926, 0xcbf43926])
})
