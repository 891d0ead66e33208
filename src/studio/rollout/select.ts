import type { RolloutFilter, RolloutQuery } from '../api.js'
import type { IndexColumns } from './index-columns.js'

export type Filter = Omit<RolloutFilter, 'store' | 'text'>
export type Order = NonNullable<RolloutQuery['order']>

/** Whether the experience at a place fits everything but the text. */
export function testOf(columns: IndexColumns, filter: Filter): (at: number) => boolean {
  const tests: ((at: number) => boolean)[] = []
  const range = (values: readonly number[], min: number | undefined, max: number | undefined) => {
    // comparisons with NaN are false: what has no number is in no range
    if (min !== undefined) tests.push((at) => values[at] >= min)
    if (max !== undefined) tests.push((at) => values[at] <= max)
  }
  if (filter.task !== undefined) {
    const task = columns.taskWords.find(filter.task)
    tests.push((at) => columns.tasks[at] === task)
  }
  range(columns.steps, filter.stepMin, filter.stepMax)
  range(columns.versions, filter.versionMin, filter.versionMax)
  range(columns.rewards, filter.rewardMin, filter.rewardMax)
  const { failure } = filter
  if (failure === 'any') tests.push((at) => columns.failures[at] !== 0)
  else if (failure === 'none') tests.push((at) => columns.failures[at] === 0)
  else if (failure !== undefined) {
    const reason = columns.failureWords.find(failure)
    tests.push((at) => columns.failures[at] === reason)
  }
  return (at) => tests.every((test) => test(at))
}

/** Places of the next experiences in an order, behind a place; undefined: from the beginning. */
export function nextPlaces(
  columns: IndexColumns,
  test: (at: number) => boolean,
  order: Order,
  after: number | undefined,
  limit: number,
): number[] {
  if (order === 'newest' || order === 'oldest') {
    const found: number[] = []
    const step = order === 'newest' ? -1 : 1
    const begin = after !== undefined ? after + step : order === 'newest' ? columns.length - 1 : 0
    for (let at = begin; at >= 0 && at < columns.length && found.length < limit; at += step)
      if (test(at)) found.push(at)
    return found
  }
  return extremes(columns, test, order, after, limit)
}

/** The best or worst: one pass that keeps the few that are asked for. Experiences without a reward have no place. */
function extremes(
  { rewards, length }: IndexColumns,
  test: (at: number) => boolean,
  order: 'best' | 'worst',
  after: number | undefined,
  limit: number,
): number[] {
  const sign = order === 'best' ? -1 : 1
  /** Before 0: `one` comes first. Equals come in order of age. */
  const compare = (one: number, other: number) => sign * (rewards[one] - rewards[other]) || one - other
  const kept: number[] = []
  for (let at = 0; at < length; at++) {
    if (Number.isNaN(rewards[at]) || (kept.length === limit && compare(at, kept[limit - 1]) >= 0)) continue
    if ((after !== undefined && compare(at, after) <= 0) || !test(at)) continue
    let place = kept.length
    while (place > 0 && compare(at, kept[place - 1]) < 0) place--
    kept.splice(place, 0, at)
    if (kept.length > limit) kept.pop()
  }
  return kept
}

/** The place of a key, or of the first behind it. */
export function placeOf({ keys }: IndexColumns, key: number): number {
  let [low, high] = [0, keys.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (keys[middle] < key) low = middle + 1
    else high = middle
  }
  return low
}
