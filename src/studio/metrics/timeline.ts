import type { Span, Timeline } from '../api.js'
import type { FoundRun } from '../run/find.js'
import { ESTIMATES, estimatedLanes } from './estimated-lanes.js'
import type { MetricsTables } from './tables.js'

export interface TimelineOptions {
  readonly from?: number
  readonly to?: number
  readonly spans: number
}

const DEFAULT_S = 600

/** Who did what when: as the run recorded it, or as its numbers let one guess. */
export async function timelineOf(run: FoundRun, tables: MetricsTables, options: TimelineOptions): Promise<Timeline> {
  const recorded = await tables.lanes(run)
  const lanes = recorded.length > 0 ? recorded : await estimatedLanes(run, await tables.of(run))
  const missing = recorded.length > 0 ? [] : ESTIMATES
  let [begin, end] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { spans } of lanes) {
    for (const span of spans) {
      begin = Math.min(begin, span.begin)
      end = Math.max(end, span.end)
    }
  }
  if (begin > end) return { begin: 0, end: 0, from: 0, to: 0, lanes: [], missing }
  const to = options.to ?? end
  const from = options.from ?? Math.max(begin, to - DEFAULT_S)
  const shown = lanes.map((lane) => ({ ...lane, spans: merged(within(lane.spans, from, to), from, to, options.spans) }))
  return { begin, end, from, to, lanes: shown, missing }
}

function within(spans: readonly Span[], from: number, to: number): Span[] {
  return spans.filter((one) => one.end >= from && one.begin <= to).sort((a, b) => a.begin - b.begin)
}

/** Neighbors of one kind that are too short to draw become one span, where there are too many. */
function merged(spans: readonly Span[], from: number, to: number, most: number): Span[] {
  if (spans.length <= most) return [...spans]
  const least = (to - from) / most
  const kept: Span[] = []
  for (const span of spans) {
    const last = kept.at(-1)
    if (last && span.end - last.begin < least) {
      const longer = span.end - span.begin > last.end - last.begin ? span : last
      kept[kept.length - 1] = {
        ...longer,
        begin: last.begin,
        end: Math.max(last.end, span.end),
        merged: (last.merged ?? 1) + 1,
      }
    } else kept.push(span)
  }
  return kept
}
