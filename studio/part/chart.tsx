import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type uPlot from 'uplot'
import { number } from '../base/format.js'
import { painted, seriesDot } from '../base/theme.js'
import { ChartActions } from './chart-actions.js'
import { type ChartView, type Curve, tableOf } from './curve.js'
import { openPlot } from './plot.js'

interface Props {
  readonly title: string
  readonly curves: readonly Curve[]
  readonly view: ChartView
  readonly onZoom: (from?: number, to?: number) => void
  /** Said in place of the plot, while there is nothing to draw. */
  readonly empty?: string
}

/** One chart with its legend. Its size never depends on its data. */
export function Chart({ title, curves, view, onZoom, empty }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const held = useRef({ view, onZoom })
  held.current = { view, onZoom }
  const index = useSignal<number | undefined>(undefined)
  // pointing at a chart draws it again, and changes no number of it
  const table = useMemo(() => tableOf(curves, view), [curves, view.axis, view.isLog, view.smooth])
  const latest = useRef(table)
  latest.current = table
  // what the plot itself is made of: everything else is new data or a new range
  const form = [view.isLog, view.axis, view.smooth > 0, painted.value, ...curves.map(({ label }) => label)].join('\n')
  const hasData = table.data[0].length > 0

  useEffect(() => {
    if (host.current === null || !hasData) return
    const made = openPlot(host.current, latest.current, () => held.current, index)
    plot.current = made
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry.contentRect
      if (width > 0) made.setSize({ width, height })
    })
    observer.observe(host.current)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [form, hasData])

  useEffect(() => {
    plot.current?.setData(latest.current.data, true)
  }, [curves, view.smooth, view.from, view.to])

  const at = index.value
  return (
    <figure class="chart">
      <figcaption>
        <h2 title={title}>{title}</h2>
        <span class="chart-x muted">{at === undefined ? '' : table.xLabel(at)}</span>
        <ChartActions title={title} curves={curves} plot={plot} />
      </figcaption>
      <div class="chart-plot" ref={host} role="img" aria-label={spoken(title, curves)}>
        {!hasData && <p class="chart-empty">{empty ?? 'No numbers yet.'}</p>}
      </div>
      <ul class="legend">
        {curves.map(({ label, colorIndex }, curve) => (
          <li key={label} title={label}>
            <i class={seriesDot(colorIndex)} />
            <span>{label}</span>
            <b>{number(at === undefined ? table.last[curve] : table.valueAt(curve, at))}</b>
          </li>
        ))}
      </ul>
    </figure>
  )
}

const spoken = (title: string, curves: readonly Curve[]) =>
  `${title}. ${curves.map(({ label, y }) => `${label}: ${y.length} points, last ${number(y.at(-1))}`).join('; ')}`
