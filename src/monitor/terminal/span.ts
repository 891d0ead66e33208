import type pc from 'picocolors'
import { cutTo, widthOf } from '../../base/terminal/width.js'

export type Colors = ReturnType<typeof pc.createColors>
export type Paint = (text: string) => string

/** A piece of a line; colors come after widths are known. */
export type Span = string | readonly [text: string, paint: Paint]

const textOf = (span: Span) => (typeof span === 'string' ? span : span[0])

export function widthOfSpans(spans: readonly Span[]): number {
  return spans.reduce((sum, span) => sum + widthOf(textOf(span)), 0)
}

/** Pieces as a line no wider than this. */
export function lineOf(spans: readonly Span[], width: number): string {
  let room = width
  let line = ''
  for (const span of spans) {
    if (room <= 0) break
    const text = cutTo(textOf(span), room)
    room -= widthOf(text)
    line += typeof span === 'string' ? text : span[1](text)
  }
  return line
}

/** Groups of pieces side by side, in as many lines as they need; lines after the first begin with `indent` blanks. */
export function packed(groups: readonly (readonly Span[])[], width: number, indent = 0, gap = 2): Span[][] {
  const lines: Span[][] = []
  for (const group of groups) {
    const last = lines.at(-1)
    if (last && widthOfSpans(last) + gap + widthOfSpans(group) <= width) last.push(' '.repeat(gap), ...group)
    else lines.push([...(last ? [' '.repeat(indent)] : []), ...group])
  }
  return lines
}
