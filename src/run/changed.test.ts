import { expect, it } from 'vitest'
import { withKeys } from '../../test/config-kit.js'
import { changed, settingsOf } from './changed.js'

it('says what has another value, as it may be shown', () => {
  const before = settingsOf(withKeys({ 'algorithm.optimizer.lr': 1e-5, 'buffer.batch_size': 4 }))
  expect(changed(before, settingsOf(withKeys({ 'algorithm.optimizer.lr': 1e-5, 'buffer.batch_size': 4 })))).toEqual([])
  const now = settingsOf(withKeys({ 'algorithm.optimizer.lr': 1e-3, 'buffer.batch_size': 4 }))
  expect(changed(before, now)).toEqual(['algorithm.optimizer.lr: 0.00001 → 0.001'])
  // stored as JSON and read again
  expect(changed(JSON.parse(JSON.stringify(before)), now)).toEqual(['algorithm.optimizer.lr: 0.00001 → 0.001'])
})
