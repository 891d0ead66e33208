import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Lane, Span, Timeline } from '../api.js'
import { logPage } from '../log/page.js'
import type { FoundRun } from '../run/find.js'
import { messageIn, timeOf } from '../run/last-words.js'
import type { MetricsTable } from './table.js'

export interface TimelineOptions {
  readonly from?: number
  readonly to?: number
  readonly spans: number
}

type Kind = Span['kind']

/** Parts of a training step in the order in which they happen, by the names of their times. */
const TRAINER: readonly (readonly [name: string, kind: Kind, label: string])[] = [
  ['time/read_experience', 'wait', 'waits for experiences'],
  ['time/train_step', 'work', 'trains'],
  ['time/sync_weight', 'sync', 'hands over weights'],
]
const SAVE = 'time/save_checkpoint'
const DEFAULT_S = 600
const SYNC_LINES = 5000
/** `weights of training step 3 to the samplers by memory in 17.6 ms` */
const MOVED = /^weights of training step (\d+) .* in ([\d.]+) ms$/

const MISSING = [
  'samplers: runs do not record when a sampler works or waits, only the times of whole steps',
  'begin and end of the parts of a step: they are placed by their lengths, backward from the end of the step',
]

/** Who did what when, as far as the numbers of the steps and the log of the synchronizer tell. */
export async function timelineOf(
  run: FoundRun,
  tables: readonly MetricsTable[],
  options: TimelineOptions,
): Promise<Timeline> {
  const lanes: Lane[] = tables.map((table) =>
    table.role === 'trainer'
      ? { name: table.role, kind: 'trainer', spans: trainerSpans(table) }
      : { name: table.role, kind: 'explorer', spans: explorerSpans(table) },
  )
  const moves = await syncSpans(join(run.path, 'log', 'synchronizer.log'))
  if (moves.length > 0) lanes.push({ name: 'synchronizer', kind: 'synchronizer', spans: moves })
  const all = lanes.flatMap(({ spans }) => spans)
  const begin = all.reduce((least, one) => Math.min(least, one.begin), Number.POSITIVE_INFINITY)
  const end = all.reduce((most, one) => Math.max(most, one.end), Number.NEGATIVE_INFINITY)
  if (all.length === 0) return { begin: 0, end: 0, from: 0, to: 0, lanes: [], missing: MISSING }
  const to = options.to ?? end
  const from = options.from ?? Math.max(begin, to - DEFAULT_S)
  const shown = lanes.map((lane) => ({ ...lane, spans: merged(within(lane.spans, from, to), from, to, options.spans) }))
  return { begin, end, from, to, lanes: shown, missing: MISSING }
}

/** The numbers of a step are written when it has ended; a checkpoint is saved after that. */
function trainerSpans(table: MetricsTable): Span[] {
  return table.steps.flatMap((step, row) => {
    const end = table.times[row]
    const parts = TRAINER.map(([name, kind, label]) => ({ seconds: valueAt(table, name, row), kind, label }))
    const spans: Span[] = []
    let at = end - parts.reduce((sum, { seconds }) => sum + seconds, 0)
    for (const { seconds, kind, label } of parts) {
      if (seconds > 0) spans.push({ begin: at, end: at + seconds, kind, label, step, isEstimate: true })
      at += seconds
    }
    const saving = valueAt(table, SAVE, row)
    if (saving > 0) {
      spans.push({ begin: end, end: end + saving, kind: 'save', label: 'saves a checkpoint', step, isEstimate: true })
    }
    return spans
  })
}

function explorerSpans(table: MetricsTable): Span[] {
  return table.steps.flatMap((step, row) => {
    const end = table.times[row]
    const spans: Span[] = []
    const put = (seconds: number, until: number, kind: Kind, label: string) => {
      if (seconds > 0) spans.unshift({ begin: until - seconds, end: until, kind, label, step, isEstimate: true })
      return until - Math.max(0, seconds)
    }
    const written = put(valueAt(table, 'experience_pipeline/time/total', row), end, 'other', 'pipeline and buffer')
    // tasks run beside each other: the longest is as long as all
    const explored = put(valueAt(table, 'rollout/time/task_execution/max', row), written, 'work', 'rollouts')
    put(valueAt(table, 'time/eval', row), explored, 'eval', 'evaluation')
    return spans
  })
}

/** Lines have whole seconds, and are written when weights have arrived. */
async function syncSpans(path: string): Promise<Span[]> {
  const info = await stat(path).catch(() => undefined)
  if (!info) return []
  const { lines } = await logPage(path, 'synchronizer', { limit: SYNC_LINES })
  return lines.flatMap(({ text }): Span[] => {
    const moved = MOVED.exec(messageIn(text) ?? '')
    const end = timeOf(text, info.mtime)
    if (!moved || end === undefined) return []
    const [step, seconds] = [Number(moved[1]), Number(moved[2]) / 1000]
    return [{ begin: end - seconds, end, kind: 'sync', label: 'moves weights', step, isEstimate: true }]
  })
}

function valueAt(table: MetricsTable, name: string, row: number): number {
  const column = table.columns.get(name)
  if (!column) return 0
  let [low, high] = [0, column.rows.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (column.rows[middle] < row) low = middle + 1
    else high = middle
  }
  const value = column.rows[low] === row ? column.values[low] : 0
  return Number.isFinite(value) ? value : 0
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
