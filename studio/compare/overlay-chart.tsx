import { useMemo } from 'preact/hooks'
import { Chart } from '../part/chart.js'
import { chartView, zoom } from '../part/chart-view.js'
import { type Curve, isSparse } from '../part/curve.js'
import type { SeriesStore } from '../run/series-store.js'

interface Props {
  readonly title: string
  readonly name: string
  readonly stores: readonly SeriesStore[]
  readonly labels: readonly string[]
}

/** One metric of several runs. Time counts from the begin of each run. */
export function OverlayChart({ title, name, stores, labels }: Props) {
  const series = stores.map((store) => store.of(name).value)
  const curves = useMemo(
    (): Curve[] =>
      series.flatMap((one, index) => {
        if (one === undefined) return []
        const begin = one.time[0] ?? 0
        const time = one.time.map((at) => at - begin)
        return [{ label: labels[index], colorIndex: index, step: one.step, time, y: one.y, isSparse: isSparse(name) }]
      }),
    series,
  )
  return <Chart title={title} curves={curves} view={chartView()} onZoom={zoom} empty="Loading…" />
}
