import { cutTo, padTo, widthOf } from '../../base/terminal/width.js'
import type { Board } from './board.js'
import { curve, extent } from './curve.js'
import { figure } from './number.js'
import type { Series } from './series.js'
import { type Colors, lineOf, type Paint, type Span, widthOfSpans } from './span.js'

/** A number with its course. */
export interface Cell {
  readonly label: string
  readonly series: Series
  readonly paint: Paint
  /** Beside the newest value, where there is room. */
  readonly remark: string
}

/** In this order, which is also what stays where there is little room. */
export function cellsOf(board: Board, { green, cyan, magenta, yellow, blue }: Colors): Cell[] {
  const cell = (label: string, paint: Paint): Cell[] => {
    const series = board.courses.get(label)?.series
    return series ? [{ label, series, paint, remark: '' }] : []
  }
  const evals = [...board.evals].map(([set, { best, series }]) => {
    return { label: set || 'eval', series, paint: cyan, remark: `best ${figure(best.score)} at ${best.step}` }
  })
  return [
    ...cell('reward', green),
    ...evals,
    ...cell('entropy', magenta),
    ...cell('length', yellow),
    ...cell('tokens/s', blue),
  ]
}

const GAP = 3
/** Narrowest cell that has a curve of several lines. */
const LEAST = 19

/** Curves side by side, under their labels; undefined: there is not room for all of them. */
export function tallCells(cells: readonly Cell[], width: number, height: number, colors: Colors): string[] | undefined {
  const each = Math.min(48, Math.floor((width + GAP) / cells.length) - GAP)
  if (each < LEAST) return undefined
  const columns = cells.map((cell) => tall(cell, each, height, colors))
  return Array.from({ length: height + 1 }, (_, row) => columns.map((lines) => lines[row]).join(' '.repeat(GAP)))
}

function tall({ label, series, paint, remark }: Cell, width: number, height: number, colors: Colors): string[] {
  const values = series.sampled(width)
  const value = figure(series.last ?? Number.NaN)
  const range = extent(values).map(figure)
  const side = remark || (values.length > 0 && range[0] !== range[1] ? range.join(' … ') : '')
  const room = width - widthOf(value) - 2
  const shown = widthOf(label) + 2 + widthOf(side) <= room ? side : ''
  const head: Span[] = [
    [label, colors.bold],
    ' ',
    [value, paint],
    ' '.repeat(Math.max(1, width - widthOf(label) - 1 - widthOf(value) - widthOf(shown))),
    [shown, colors.dim],
  ]
  const rows = values.length > 0 ? curve(values, height) : Array<string>(height).fill(' '.repeat(width))
  return [padded(head, width), ...rows.map(paint)]
}

/** A line for one, two or three of them, each with a curve of one line. */
export function flatCells(cells: readonly Cell[], width: number, { bold }: Colors): string[] {
  const across = Math.max(1, Math.floor((width + GAP) / 30))
  const each = Math.floor((width + GAP) / across) - GAP
  const labels = Math.min(10, Math.max(...cells.map(({ label }) => widthOf(label))))
  const lines: string[] = []
  cells.forEach(({ label, series, paint }, i) => {
    const value = figure(series.last ?? Number.NaN).padEnd(7)
    const values = series.sampled(Math.max(4, each - labels - value.length - 2))
    const head: Span[] = [[padTo(cutTo(label, labels), labels), bold], ' ', [value, paint], ' ']
    const text = padded([...head, [values.length > 0 ? curve(values)[0] : '', paint]], each)
    if (i % across === 0) lines.push(text)
    else lines[lines.length - 1] += ' '.repeat(GAP) + text
  })
  return lines
}

function padded(spans: readonly Span[], width: number): string {
  return lineOf([...spans, ' '.repeat(Math.max(0, width - widthOfSpans(spans)))], width)
}
