import { expect, it } from 'vitest'
import { isFiltered, readFilter } from './filter.js'

it('a filter is read from the address, and nonsense is no limit', () => {
  const filter = readFilter({ rewardMin: '0.5', stepMax: 'x', task: '7', order: 'best', text: '' }, 'raw')
  expect(filter).toMatchObject({ store: 'raw', rewardMin: 0.5, task: '7', order: 'best' })
  expect(filter.stepMax).toBeUndefined()
  expect(filter.text).toBeUndefined()
})

it('an order alone is no filter', () => {
  expect(isFiltered({ order: 'best', store: 'raw' })).toBe(false)
  expect(isFiltered({ rewardMin: '0' })).toBe(true)
})
