import type { AlignedData } from 'uplot'
import { count, duration } from '../base/format.js'
import { smooth } from '../base/smooth.js'

/** One line of a chart. */
export interface Curve {
  readonly label: string
  readonly colorIndex: number
  readonly step: readonly number[]
  readonly time: readonly number[]
  readonly y: readonly (number | null)[]
  /** Measured now and then: every point counts, and none is smoothed. */
  readonly isSparse: boolean
}

/** Evaluations and benchmarks are few and far between. */
export const isSparse = (metric: string) => /^(eval|bench)\//.test(metric)

/** How all charts of a page are drawn. `from` and `to` are in units of the axis. */
export interface ChartView {
  readonly smooth: number
  readonly isLog: boolean
  readonly axis: 'step' | 'time'
  readonly from?: number
  readonly to?: number
}

export interface Table {
  /** x, then (where there is smoothing) the raw lines, then the smoothed ones; the first curve last, so that it is on top. */
  readonly data: AlignedData
  readonly curves: readonly Curve[]
  readonly last: readonly (number | undefined)[]
  valueAt(curve: number, index: number): number | undefined
  xLabel(index: number): string
}

/** Curves with steps of their own in columns over one x. Time counts from the first point of each curve's run. */
export function tableOf(curves: readonly Curve[], view: ChartView): Table {
  const begin = Math.min(...curves.flatMap(({ time }) => time.slice(0, 1)))
  const xs = curves.map(({ step, time }) => (view.axis === 'step' ? step : time.map((at) => at - begin)))
  const { x, spread: placed } = sharedAxis(xs)
  const spread = (values: readonly (number | null)[], at: readonly number[]) =>
    placed(view.isLog ? values.map((value) => (value !== null && value <= 0 ? null : value)) : values, at)
  const raw = curves.map(({ y }, index) => spread(y, xs[index]))
  const smoothed =
    view.smooth > 0
      ? curves.map(({ y, isSparse }, index) => (isSparse ? raw[index] : spread(smooth(y, view.smooth), xs[index])))
      : raw
  return {
    data: [x, ...(view.smooth > 0 ? raw.toReversed() : []), ...smoothed.toReversed()] as AlignedData,
    curves,
    last: curves.map(({ y }) => y.findLast((value) => value !== null) ?? undefined),
    valueAt: (curve, index) => nearest(raw[curve], index),
    xLabel: (index) => (view.axis === 'step' ? `step ${count(x[index])}` : `after ${duration(x[index])}`),
  }
}

type Column = readonly (number | null)[]

/** One axis for all, and what puts values of one of them where they belong. Most charts have one curve, or curves of the same steps. */
function sharedAxis(xs: readonly (readonly number[])[]): {
  x: readonly number[]
  spread: (values: Column, at: readonly number[]) => Column
} {
  const [first = []] = xs
  if (xs.every((one) => one.length === first.length && one.every((value, index) => value === first[index])))
    return { x: first, spread: (values) => values }
  const x = [...new Set(xs.flat())].sort((one, other) => one - other)
  const place = new Map(x.map((value, index) => [value, index]))
  const spread = (values: Column, at: readonly number[]) => {
    const column: (number | null)[] = new Array(x.length).fill(null)
    values.forEach((value, index) => {
      column[place.get(at[index])!] = value
    })
    return column
  }
  return { x, spread }
}

/** The value there or the last one before it: an evaluation holds until the next. */
function nearest(column: readonly (number | null)[] | undefined, index: number): number | undefined {
  if (column === undefined) return undefined
  for (let at = Math.min(index, column.length - 1); at >= 0; at--) if (column[at] !== null) return column[at]!
  return undefined
}
