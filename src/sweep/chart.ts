import { figure } from '../monitor/terminal/number.js'
import { type Arm, type Comparison, meanCurve } from './compare.js'
import { unitOf } from './number.js'
import type { Axis } from './spec.js'

const SIZE = { width: 760, height: 440, left: 70, right: 190, top: 44, bottom: 54 }
/** Colors that people with any sight tell apart (Okabe and Ito). */
const COLORS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#8c8c00']
/** How lines are broken once the colors have all been used. */
const DASHES = ['', ' stroke-dasharray="7 4"', ' stroke-dasharray="2 3"']
const TICKS = 5

/** The curves of a sweep as SVG: the mean of each arm, and one deviation to both sides. */
export function chartSvg(arms: readonly Arm[], { budget }: Comparison, metric: string, axis: Axis): string {
  const shown = arms.flatMap(({ name, curves }) => {
    const used = curves.filter(({ length }) => length > 0)
    return used.length === 0 ? [] : [{ name, points: meanCurve(used, budget) }]
  })
  const edges = shown.flatMap(({ points }) =>
    points.flatMap(({ mean, deviation = 0 }) => [mean - deviation, mean + deviation]),
  )
  const [low, high] = padded(Math.min(...edges), Math.max(...edges))
  const begin = Math.min(...shown.map(({ points }) => points[0].x))
  const { width, height, left, right, top, bottom } = SIZE
  const x = scale(begin, budget, left, width - right)
  const y = scale(low, high, height - bottom, top)
  const lines = shown.map(({ name, points }, i) => {
    const color = COLORS[i % COLORS.length]
    const dash = DASHES[Math.floor(i / COLORS.length) % DASHES.length]
    const upper = points.map((p) => `${x(p.x)},${y(p.mean + (p.deviation ?? 0))}`)
    const lower = points.map((p) => `${x(p.x)},${y(p.mean - (p.deviation ?? 0))}`).reverse()
    const label = { x: width - right + 36, y: top + 20 * i + 6 }
    return [
      `<polygon points="${[...upper, ...lower].join(' ')}" fill="${color}" fill-opacity="0.15"/>`,
      `<polyline points="${points.map((p) => `${x(p.x)},${y(p.mean)}`).join(' ')}" fill="none" stroke="${color}" stroke-width="2"${dash}/>`,
      `<line x1="${label.x - 26}" y1="${label.y - 4}" x2="${label.x - 6}" y2="${label.y - 4}" stroke="${color}" stroke-width="3"${dash}/>`,
      `<text x="${label.x}" y="${label.y}">${escaped(name)}</text>`,
    ].join('\n')
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>${escaped(metric)}</title>`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    `<text x="${left}" y="22" font-size="14">${escaped(metric)}</text>`,
    ...ticks(low, high).map((value) => rule(value, y(value))),
    ...ticks(begin, budget).map(
      (value) => `<text x="${x(value)}" y="${height - bottom + 18}" text-anchor="middle">${figure(value)}</text>`,
    ),
    `<text x="${(left + width - right) / 2}" y="${height - 12}" text-anchor="middle">${unitOf(axis)}</text>`,
    ...lines,
    '</svg>\n',
  ].join('\n')
}

function rule(value: number, y: number): string {
  const { left, right, width } = SIZE
  return `<line x1="${left}" y1="${y}" x2="${width - right}" y2="${y}" stroke="#ddd"/>\n<text x="${left - 8}" y="${y + 4}" text-anchor="end">${figure(value)}</text>`
}

/** Some room above and below; around a single value as well. */
function padded(low: number, high: number): [number, number] {
  const room = high > low ? 0.05 * (high - low) : Math.max(1e-3, Math.abs(high) * 0.1)
  return [low - room, high + room]
}

function scale(low: number, high: number, from: number, to: number): (value: number) => number {
  const span = high > low ? high - low : 1
  return (value) => Math.round((from + ((to - from) * (value - low)) / span) * 100) / 100
}

/** Round numbers between two, about TICKS of them. */
function ticks(low: number, high: number): number[] {
  if (!(high > low)) return [low]
  const raw = (high - low) / TICKS
  const power = 10 ** Math.floor(Math.log10(raw))
  const step = power * ([1, 2, 5, 10].find((one) => one * power >= raw) ?? 10)
  const first = Math.ceil(low / step)
  const count = Math.floor(high / step) - first + 1
  return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)))
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
