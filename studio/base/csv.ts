import type { Series } from '../../src/studio/api.js'

const quoted = (text: string) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** One row for each step that any series has. */
export function csvOf(series: readonly Pick<Series, 'name' | 'step' | 'time' | 'y'>[]): string {
  const rows = new Map<number, { time: number; values: (number | null)[] }>()
  series.forEach(({ step, time, y }, column) => {
    step.forEach((at, index) => {
      const row = rows.get(at) ?? { time: time[index], values: series.map(() => null) }
      row.values[column] = y[index]
      rows.set(at, row)
    })
  })
  const head = ['step', 'time', ...series.map(({ name }) => quoted(name))]
  const lines = [...rows]
    .sort(([one], [other]) => one - other)
    .map(([step, { time, values }]) => [step, time, ...values.map((value) => value ?? '')])
  return [head, ...lines].map((line) => `${line.join(',')}\n`).join('')
}
