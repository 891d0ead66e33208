import type { RolloutQuery } from '../../src/studio/api.js'
import { numberOf } from '../base/place.js'

/** Numbers in a filter, two for each range, as the address writes them. */
const RANGES = ['stepMin', 'stepMax', 'versionMin', 'versionMax', 'rewardMin', 'rewardMax'] as const
export const ORDERS = ['newest', 'oldest', 'best', 'worst'] as const
export const FILTER_KEYS = [...RANGES, 'task', 'text', 'failure'] as const

/** The filter that the address describes. What is no number is no limit. */
export function readFilter(query: Readonly<Record<string, string>>, store: string): RolloutQuery {
  const ranges = Object.fromEntries(RANGES.map((name) => [name, numberOf(query[name])]))
  return {
    store,
    ...ranges,
    task: query.task || undefined,
    text: query.text || undefined,
    failure: query.failure || undefined,
    order: ORDERS.find((order) => order === query.order),
  }
}

export const isFiltered = (query: Readonly<Record<string, string>>) => FILTER_KEYS.some((key) => query[key])
