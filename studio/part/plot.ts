import type { Signal } from '@preact/signals'
import uPlot from 'uplot'
import { duration, number } from '../base/format.js'
import { color, seriesColor } from '../base/theme.js'
import type { ChartView, Table } from './curve.js'
import { rangeOf, spaced } from './range.js'

interface Held {
  readonly view: ChartView
  readonly onZoom: (from?: number, to?: number) => void
}

/** Where fewer points than this are in sight, each one gets a dot. */
const FEW = 20

/** A uPlot in our colors. Dragging zooms all charts of the page, a double click shows everything. */
export function openPlot(host: HTMLElement, table: Table, held: () => Held, index: Signal<number | undefined>): uPlot {
  const { view } = held()
  const isSmooth = view.smooth > 0
  const font = '11px system-ui, sans-serif'
  const axis = { stroke: color('--muted'), font, grid: { stroke: color('--grid'), width: 1 }, ticks: { show: false } }
  const line = (curve: number, isRaw: boolean): uPlot.Series => ({
    stroke: seriesColor(table.curves[curve].colorIndex),
    width: isRaw ? 1 : 1.5,
    alpha: isRaw ? 0.3 : 1,
    spanGaps: true,
    points: {
      show: (_, __, from, to) => !isRaw && (table.curves[curve].isSparse || to - from < FEW),
      size: 5,
      fill: seriesColor(table.curves[curve].colorIndex),
    },
  })
  const zoomOut = () => {
    held().onZoom()
    return null
  }
  const lines = table.curves.map((_, curve) => line(curve, false))
  const rawLines = isSmooth ? table.curves.map((_, curve) => line(curve, true)) : []
  return new uPlot(
    {
      width: Math.max(host.clientWidth, 80),
      height: Math.max(host.clientHeight, 80),
      padding: [8, 18, 0, 0],
      legend: { show: false },
      scales: {
        // uPlot would widen a single point to hundred steps
        x: { time: false, range: ({ data: [x] }) => rangeOf(held().view, x[0] ?? null, x.at(-1) ?? null) },
        y: view.isLog ? { distr: 3 } : { range: (_, low, high) => spaced(low, high) },
      },
      axes: [
        { ...axis, size: 26, space: 60, values: (_, ticks) => ticks.map(view.axis === 'step' ? stepLabel : duration) },
        {
          ...axis,
          size: 56,
          space: 28,
          values: (_, ticks) => ticks.map((tick) => (tick === null ? '' : number(tick))),
        },
      ],
      series: [{}, ...rawLines.toReversed(), ...lines.toReversed()],
      cursor: {
        y: false,
        points: { size: 6 },
        sync: { key: 'studio', setSeries: false },
        drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => zoomOut },
      },
      hooks: {
        setCursor: [
          (plot) => {
            index.value = plot.cursor.idx ?? undefined
          },
        ],
        setSelect: [
          (plot) => {
            const { left, width } = plot.select
            if (width < 4) return
            held().onZoom(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'))
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          },
        ],
      },
    },
    table.data,
    host,
  )
}

const stepLabel = (tick: number) => (Number.isInteger(tick) ? number(tick) : '')
