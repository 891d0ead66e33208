import type { Lane, Span, Timeline } from '../api.js'
import type { FoundRun } from '../run/find.js'
import { bundled } from './bundled.js'
import { ESTIMATES, estimatedLanes } from './estimated-lanes.js'
import type { MetricsTables } from './tables.js'

export interface TimelineOptions {
  readonly from?: number
  readonly to?: number
  readonly spans: number
}

/** What is shown first: enough steps to see how they follow each other, few enough to tell them apart. */
const FIRST_STEPS = 10
const FIRST_S = 600

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
  const from = options.from ?? Math.max(begin, to - FIRST_S, beginOfSteps(lanes, FIRST_STEPS))
  const shown = lanes.map((lane) => ({
    ...lane,
    spans: bundled(within(lane.spans, from, to), from, to, options.spans),
  }))
  return { begin, end, from, to, lanes: shown, missing }
}

function within(spans: readonly Span[], from: number, to: number): Span[] {
  return spans.filter((one) => one.end >= from && one.begin <= to).sort((a, b) => a.begin - b.begin)
}

/** When the last steps began that the trainer, or whoever has steps, has worked on. */
function beginOfSteps(lanes: readonly Lane[], count: number): number {
  const lane = lanes.find(({ kind }) => kind === 'trainer') ?? lanes.find(({ kind }) => kind === 'explorer')
  const begins = new Map<number, number>()
  for (const { step, begin } of lane?.spans ?? [])
    if (step !== undefined) begins.set(step, Math.min(begin, begins.get(step) ?? begin))
  const [first] = [...begins].sort(([one], [other]) => one - other).slice(-count)
  return first?.[1] ?? Number.NEGATIVE_INFINITY
}
