import type { RewardHistogram, TaskRow, TasksQuery } from '../api.js'
import type { IndexColumns } from './index-columns.js'

/** How rewards are spread over the experiences at these places. */
export function histogramOf(
  { rewards, failures }: IndexColumns,
  places: readonly number[],
  bins: number,
): RewardHistogram {
  let [min, max, sum, count, failed] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0, 0]
  for (const at of places) {
    if (failures[at] !== 0) failed++
    const reward = rewards[at]
    if (!Number.isFinite(reward)) continue
    count++
    sum += reward
    if (reward < min) min = reward
    if (reward > max) max = reward
  }
  const without = places.length - count
  if (count === 0) return { bins: [], count: places.length, without, failed }
  const width = (max - min) / bins
  const counts: number[] = new Array(width === 0 ? 1 : bins).fill(0)
  for (const at of places) {
    const reward = rewards[at]
    // the largest belongs to the last bin
    if (Number.isFinite(reward)) counts[width === 0 ? 0 : Math.min(bins - 1, Math.floor((reward - min) / width))]++
  }
  const edge = (i: number) => (i === counts.length ? max : min + i * width)
  const list = counts.map((one, i) => ({ from: edge(i), to: edge(i + 1), count: one }))
  return { bins: list, count: places.length, without, failed, mean: sum / count, min, max }
}

/** Every task with what its attempts were worth. */
export function tasksOf(columns: IndexColumns, text: string, order: TasksQuery['order'] = 'attempts'): TaskRow[] {
  const { words } = columns.taskWords
  const all = words.map(() => ({
    attempts: 0,
    rated: 0,
    sum: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
  }))
  for (let at = 0; at < columns.length; at++) {
    const one = all[columns.tasks[at]]
    one.attempts++
    const reward = columns.rewards[at]
    if (!Number.isFinite(reward)) continue
    one.rated++
    one.sum += reward
    one.min = Math.min(one.min, reward)
    one.max = Math.max(one.max, reward)
  }
  const rows = all.map(({ attempts, rated, sum, min, max }, i): TaskRow => {
    const task = words[i]
    return rated === 0 ? { task, attempts } : { task, attempts, mean: sum / rated, min, max }
  })
  const rank: Record<NonNullable<TasksQuery['order']>, (row: TaskRow) => number> = {
    attempts: (row) => row.attempts,
    best: (row) => row.mean ?? Number.NEGATIVE_INFINITY,
    worst: (row) => -(row.mean ?? Number.POSITIVE_INFINITY),
    spread: (row) => (row.max ?? 0) - (row.min ?? 0),
  }
  return rows
    .filter(({ task, attempts }) => attempts > 0 && task.toLowerCase().includes(text.toLowerCase()))
    .sort((a, b) => rank[order](b) - rank[order](a))
}
