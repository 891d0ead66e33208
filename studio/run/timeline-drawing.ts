import type { Lane, Span, Timeline } from '../../src/studio/api.js'
import { clock, duration } from '../base/format.js'
import { color } from '../base/theme.js'
import { columnsOf, type Shares } from './lane-columns.js'
import { KINDS } from './lane-shares.js'

export const LANE = 34
export const HEAD = 24
export const LABELS = 120

/** Pixels of the canvas for moments of the run. */
export class TimeScale {
  constructor(
    readonly from: number,
    readonly to: number,
    readonly left: number,
    readonly right: number,
  ) {}
  x = (time: number) => this.left + ((time - this.from) / (this.to - this.from)) * (this.right - this.left)
  time = (x: number) => this.from + ((x - this.left) / (this.right - this.left)) * (this.to - this.from)
}

/** Round distances between marks: 1, 2, 5 × 10ⁿ seconds, then minutes and hours. */
export function markDistance(seconds: number, most: number): number {
  const wanted = seconds / most
  const round = [
    0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400,
  ]
  return round.find((distance) => distance >= wanted) ?? 7 * 86_400
}

export function drawTimeline(canvas: HTMLCanvasElement, timeline: Timeline, scale: TimeScale, width: number): void {
  const ratio = devicePixelRatio
  const height = HEAD + timeline.lanes.length * LANE
  canvas.width = width * ratio
  canvas.height = height * ratio
  const context = canvas.getContext('2d')!
  context.scale(ratio, ratio)
  context.font = '11px system-ui, sans-serif'
  context.textBaseline = 'middle'
  drawMarks(context, scale, height)
  for (const [index, lane] of timeline.lanes.entries()) drawLane(context, lane, HEAD + index * LANE, scale)
}

function drawMarks(context: CanvasRenderingContext2D, scale: TimeScale, height: number): void {
  const distance = markDistance(scale.to - scale.from, Math.max(2, (scale.right - scale.left) / 90))
  context.fillStyle = color('--muted')
  context.strokeStyle = color('--grid')
  // parts of a second are counted from the left edge
  const first = distance < 1 ? scale.from + distance : Math.ceil(scale.from / distance) * distance
  for (let time = first; time <= scale.to; time += distance) {
    const x = Math.round(scale.x(time)) + 0.5
    context.beginPath()
    context.moveTo(x, HEAD)
    context.lineTo(x, height)
    context.stroke()
    if (x < scale.right - 48)
      context.fillText(distance < 1 ? `+${duration(time - scale.from)}` : clock(time), x + 3, HEAD / 2)
  }
}

function drawLane(context: CanvasRenderingContext2D, lane: Lane, top: number, scale: TimeScale): void {
  context.strokeStyle = color('--line')
  context.strokeRect(-1, top + 0.5, scale.right + 2, LANE)
  const { thick, columns } = columnsOf(lane.spans, scale)
  drawColumns(context, columns, top)
  for (const span of thick) {
    const left = Math.max(scale.left, scale.x(span.begin))
    const right = Math.min(scale.right, scale.x(span.end))
    context.fillStyle = color(`--span-${span.kind}`)
    const wide = right - left - (right - left > 6 ? 1 : 0)
    context.fillRect(left, top + 6, wide, LANE - 12)
    if (wide < 40) continue
    context.save()
    context.beginPath()
    context.rect(left, top, wide - 4, LANE)
    context.clip()
    context.fillStyle = color(span.kind === 'wait' ? '--muted' : '--span-text')
    context.fillText(labelOf(span), left + 5, top + LANE / 2)
    context.restore()
  }
  context.fillStyle = color('--surface')
  context.fillRect(0, top + 1, scale.left - 1, LANE - 2)
  context.fillStyle = color('--text')
  context.fillText(lane.name, 10, top + LANE / 2, scale.left - 16)
}

/** Each column in the mean color of what happened in it: half an empty one is half as strong. */
function drawColumns(context: CanvasRenderingContext2D, columns: ReadonlyMap<number, Shares>, top: number): void {
  const colors = Object.fromEntries(KINDS.map((kind) => [kind, color(`--span-${kind}`)]))
  for (const [x, shares] of columns) {
    // what is painted over the others leaves them less than all
    let left = Math.max(0, 1 - KINDS.reduce((sum, kind) => sum + (shares[kind] ?? 0), 0))
    for (const kind of KINDS) {
      const share = shares[kind] ?? 0
      if (share <= 0) continue
      left += share
      context.globalAlpha = Math.min(1, share / left)
      context.fillStyle = colors[kind]
      context.fillRect(x, top + 6, 1, LANE - 12)
    }
  }
  context.globalAlpha = 1
}

export const labelOf = ({ label, step, merged }: Span) =>
  `${label}${step === undefined ? '' : ` ${step}`}${merged === undefined ? '' : ` (${merged} short ones)`}`

/** The span under a point. The last one drawn is on top. */
export function spanAt(timeline: Timeline, scale: TimeScale, x: number, y: number): Span | undefined {
  const lane = timeline.lanes[Math.floor((y - HEAD) / LANE)]
  if (lane === undefined || x < scale.left) return undefined
  const near = (scale.to - scale.from) / (scale.right - scale.left)
  const time = scale.time(x)
  return lane.spans.findLast(({ begin, end }) => begin - near <= time && time <= end + near)
}
