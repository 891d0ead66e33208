import { figure } from '../monitor/terminal/number.js'
import type { Comparison } from './compare.js'
import { spreadText, unitOf } from './number.js'
import type { Axis } from './spec.js'

/** A comparison in words, best arm first. */
export function tableText({ budget, arms }: Comparison, metric: string, axis: Axis): string {
  const sorted = arms.toSorted((a, b) => b.atBudget.mean - a.atBudget.mean)
  const at = `after ${figure(budget)} ${unitOf(axis)}`
  const rows = [
    ['', 'runs', 'before', at, 'highest'],
    ...sorted.map(({ name, runs, first, atBudget, highest }) => {
      return [name, String(runs), ...[first, atBudget, highest].map(spreadText)]
    }),
  ]
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  const lines = rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]))
      .join('   ')
      .trimEnd(),
  )
  const spread = arms.some(({ runs }) => runs > 1) ? ': mean ± deviation over seeds' : ''
  return [`${metric}${spread}`, ...lines].join('\n')
}
