import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Lane, Span } from '../api.js'
import { logPage } from '../log/page.js'
import type { FoundRun } from '../run/find.js'
import { messageIn, timeOf } from '../run/last-words.js'
import type { MetricsTable } from './table.js'

type Kind = Span['kind']

/** Parts of a training step in the order in which they happen, by the names of their times. */
const TRAINER: readonly (readonly [name: string, kind: Kind, label: string])[] = [
  ['time/read_experience', 'wait', 'waits for experiences'],
  ['time/train_step', 'work', 'trains'],
  ['time/sync_weight', 'sync', 'hands over weights'],
]
const SAVE = 'time/save_checkpoint'
const SYNC_LINES = 5000
/** `weights of training step 3 to the samplers by memory in 17.6 ms` */
const MOVED = /^weights of training step (\d+) .* in ([\d.]+) ms$/

/** What stands in estimated lanes by guess, or not at all. */
export const ESTIMATES = [
  'samplers: the run was made by a release that did not record when a sampler works or waits',
  'begin and end of the parts of a step: they are placed by their lengths, backward from the end of the step',
]

/** Who did what when, as far as the numbers of the steps and the log of the synchronizer tell. */
export async function estimatedLanes(run: FoundRun, tables: readonly MetricsTable[]): Promise<Lane[]> {
  const lanes: Lane[] = tables.map((table) =>
    table.role === 'trainer'
      ? { name: table.role, kind: 'trainer', spans: trainerSpans(table) }
      : { name: table.role, kind: 'explorer', spans: explorerSpans(table) },
  )
  const moves = await syncSpans(join(run.path, 'log', 'synchronizer.log'))
  if (moves.length > 0) lanes.push({ name: 'synchronizer', kind: 'synchronizer', spans: moves })
  return lanes
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
