import type { MetricsRow, Series } from '../../src/studio/api.js'

/** A series with the rows that came since; a row of a step that is there already replaces it. The same object: nothing changed. */
export function withRows(series: Series, rows: readonly MetricsRow[]): Series {
  const news = rows.filter(({ metrics }) => metrics[series.name] !== undefined)
  if (news.length === 0) return series
  const step = [...series.step]
  const time = [...series.time]
  const y = [...series.y]
  for (const row of news) {
    const value = row.metrics[series.name]
    let at = step.length
    while (at > 0 && step[at - 1] >= row.step) at--
    const isThere = step[at] === row.step ? 1 : 0
    step.splice(at, isThere, row.step)
    time.splice(at, isThere, row.time)
    y.splice(at, isThere, typeof value === 'number' ? value : null)
  }
  return {
    ...series,
    step,
    time,
    y,
    low: undefined,
    high: undefined,
    count: series.count + step.length - series.step.length,
  }
}
