import type { RefObject } from 'preact'
import type uPlot from 'uplot'
import { csvOf } from '../base/csv.js'
import { fileName, save } from '../base/save.js'
import { color, seriesColor } from '../base/theme.js'
import type { Curve } from './curve.js'

interface Props {
  readonly title: string
  readonly curves: readonly Curve[]
  readonly plot: RefObject<uPlot | undefined>
}

export function ChartActions({ title, curves, plot }: Props) {
  const asTable = () =>
    save(`${fileName(title)}.csv`, csvOf(curves.map((curve) => ({ ...curve, name: curve.label }))), 'text/csv')
  const asPicture = async () => {
    const picture = plot.current && (await pictureOf(plot.current, title, curves))
    if (picture) save(`${fileName(title)}.png`, picture)
  }
  return (
    <span class="chart-actions">
      <button type="button" class="quiet" onClick={asTable} aria-label={`${title} as CSV`}>
        CSV
      </button>
      <button type="button" class="quiet" onClick={asPicture} aria-label={`${title} as PNG`}>
        PNG
      </button>
    </span>
  )
}

/** The plot on its background, with title and legend: what one pastes into a report. */
function pictureOf(plot: uPlot, title: string, curves: readonly Curve[]): Promise<Blob | null> {
  const source = plot.ctx.canvas
  const scale = devicePixelRatio
  const head = 28 * scale
  const foot = 24 * scale
  const canvas = document.createElement('canvas')
  canvas.width = source.width
  canvas.height = source.height + head + foot
  const context = canvas.getContext('2d')!
  context.fillStyle = color('--surface')
  context.fillRect(0, 0, canvas.width, canvas.height)
  context.drawImage(source, 0, head)
  context.textBaseline = 'middle'
  context.font = `600 ${13 * scale}px system-ui, sans-serif`
  context.fillStyle = color('--text')
  context.fillText(title, 12 * scale, head / 2)
  context.font = `${11 * scale}px system-ui, sans-serif`
  let x = 12 * scale
  const y = canvas.height - foot / 2
  for (const { label, colorIndex } of curves) {
    context.fillStyle = seriesColor(colorIndex)
    context.fillRect(x, y - 4 * scale, 8 * scale, 8 * scale)
    context.fillStyle = color('--text')
    context.fillText(label, x + 12 * scale, y)
    x += context.measureText(label).width + 28 * scale
  }
  return new Promise((resolve) => canvas.toBlob(resolve))
}
