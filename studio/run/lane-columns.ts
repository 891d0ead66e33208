import type { Span } from '../../src/studio/api.js'
import { secondsOf } from './lane-shares.js'

/** Parts of a column of pixels that spans of each kind take, 0 to 1. */
export type Shares = Partial<Record<Span['kind'], number>>

export interface Columns {
  /** Wide enough to be drawn as they are. */
  readonly thick: readonly Span[]
  /** By the left edge of the column: what is too thin to be seen by itself. */
  readonly columns: ReadonlyMap<number, Shares>
}

interface Scale {
  readonly left: number
  readonly right: number
  x(time: number): number
}

const THICK = 3

/** A span of a tenth of a pixel is drawn as a tenth of a pixel: a lane looks as full as it is. */
export function columnsOf(spans: readonly Span[], scale: Scale): Columns {
  const thick: Span[] = []
  const columns = new Map<number, Shares>()
  for (const span of spans) {
    const [begin, end] = [scale.x(span.begin), scale.x(span.end)]
    if (end < scale.left || begin > scale.right) continue
    if (span.merged === undefined && end - begin >= THICK) {
      thick.push(span)
      continue
    }
    // those that were put together fill a part of their range
    const density = end > begin ? secondsOf(span) / (span.end - span.begin) : 0
    for (let x = Math.max(Math.floor(begin), Math.floor(scale.left)); x < Math.min(end, scale.right); x++) {
      const shares = columns.get(x) ?? {}
      columns.set(x, shares)
      const inside = Math.min(end, x + 1) - Math.max(begin, x)
      shares[span.kind] = Math.min(1, (shares[span.kind] ?? 0) + inside * density)
    }
  }
  return { thick, columns }
}
