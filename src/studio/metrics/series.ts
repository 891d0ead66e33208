import type { OddNumber, Series } from '../api.js'
import type { MetricsTable } from './table.js'

export interface SeriesOptions {
  readonly points: number
  readonly from?: number
  readonly to?: number
}

const MOST_ODD = 100

/** The curve of a number. Where steps are put together, peaks stay visible: each point has the range of its steps. */
export function seriesOf(table: MetricsTable, name: string, { points, from, to }: SeriesOptions): Series | undefined {
  const column = table.columns.get(name)
  if (!column) return undefined
  const picked: number[] = []
  const [low, high] = [from ?? Number.NEGATIVE_INFINITY, to ?? Number.POSITIVE_INFINITY]
  for (let i = 0; i < column.rows.length; i++) {
    const step = table.steps[column.rows[i]]
    if (step >= low && step <= high) picked.push(i)
  }
  const about = { name, role: table.role, odd: oddOf(table, column, picked), count: picked.length }
  const stepAt = (i: number) => table.steps[column.rows[i]]
  const timeAt = (i: number) => table.times[column.rows[i]]
  if (picked.length <= points) {
    const y = picked.map((i) => finite(column.values[i]))
    return { ...about, step: picked.map(stepAt), time: picked.map(timeAt), y }
  }
  const buckets = Array.from({ length: points }, (_, k) => {
    const begin = Math.floor((k * picked.length) / points)
    const part = picked.slice(begin, Math.floor(((k + 1) * picked.length) / points))
    const values = part.map((i) => column.values[i]).filter(Number.isFinite)
    return { first: part[0], values }
  })
  const ofEach = (take: (values: number[]) => number) =>
    buckets.map(({ values }) => (values.length === 0 ? null : take(values)))
  return {
    ...about,
    step: buckets.map(({ first }) => stepAt(first)),
    time: buckets.map(({ first }) => timeAt(first)),
    y: ofEach((values) => values.reduce((sum, one) => sum + one, 0) / values.length),
    low: ofEach((values) => Math.min(...values)),
    high: ofEach((values) => Math.max(...values)),
  }
}

/** The word for a number that JSON has none for. */
export function numberWord(value: number): number | OddNumber {
  return Number.isFinite(value) ? value : (String(value) as OddNumber)
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

function oddOf(
  table: MetricsTable,
  { rows, values }: { rows: readonly number[]; values: readonly number[] },
  picked: readonly number[],
): Series['odd'] {
  const odd: { step: number; value: OddNumber }[] = []
  for (const i of picked) {
    if (Number.isFinite(values[i])) continue
    odd.push({ step: table.steps[rows[i]], value: String(values[i]) as OddNumber })
    if (odd.length === MOST_ODD) break
  }
  return odd
}
