import type { RunDetail, Session } from './api.js'
import { logParts } from './log/parts.js'
import { machineParts, type ShownReport } from './machine/parts.js'
import type { MetricsTables } from './metrics/tables.js'
import { timelineOf } from './metrics/timeline.js'
import type { Part } from './part.js'
import { playgroundParts } from './playground/parts.js'
import type { Players } from './playground/players.js'
import { rolloutParts } from './rollout/parts.js'
import { scorePart } from './rollout/score-part.js'
import type { Shelf } from './rollout/shelf.js'
import { runParts } from './run/parts.js'
import type { Runs } from './run/runs.js'
import type { Exporter } from './write/export.js'
import { exportParts } from './write/export-parts.js'
import { keepParts } from './write/keep-parts.js'
import { type WriteNeeds, writeParts } from './write/parts.js'

/** What the routes work with. */
export interface PartNeeds {
  readonly runs: Runs
  readonly tables: MetricsTables
  readonly shelf: Shelf
  readonly opens?: Session['opens']
  readonly report?: ShownReport
  readonly version: string
  /** Absent: runs are only looked at. */
  readonly writes?: Omit<WriteNeeds, 'runs'> & { readonly players: Players; readonly exporter: Exporter }
  /** Ends every stream. */
  readonly signal: AbortSignal
}

/** Everything below `/api`. */
export function partsOf(needs: PartNeeds): Part[] {
  const { runs, tables, shelf, version, opens, writes, report } = needs
  return [
    ...(opens ? [{ path: `/runs/${opens.run}`, answer: async () => viewed(opens.run) }] : []),
    ...runParts(needs),
    ...(writes
      ? [
          ...keepParts(runs),
          ...writeParts({ runs, ...writes }),
          ...exportParts(runs, writes.exporter),
          ...playgroundParts(runs, writes.players),
          scorePart(runs.given, shelf, writes.players),
        ]
      : []),
    ...logParts(needs),
    ...rolloutParts(shelf),
    ...machineParts(report),
    {
      path: '/session',
      answer: async (): Promise<Session> => ({
        version,
        folders: (await runs.list()).folders,
        opens,
        report: report?.path,
        writes: writes !== undefined,
      }),
    },
    {
      path: '/runs/:run/timeline',
      answer: async (query, id) => {
        return timelineOf(await runs.get(id), tables, {
          from: query.number('from'),
          to: query.number('to'),
          spans: query.count('spans', 10, 20_000, 2000),
        })
      },
    },
    { path: '/runs/:run/metrics', answer: async (_, run) => tables.list(await runs.get(run)) },
    {
      path: '/runs/:run/series',
      answer: async (query, run) =>
        tables.series(await runs.get(run), query.list('name', 100), {
          role: query.text('role'),
          points: query.count('points', 2, 10_000, 1000),
          from: query.number('from'),
          to: query.number('to'),
        }),
    },
  ]
}

/** A table that somebody named stands alone: there is no run around it. */
function viewed(id: string): RunDetail {
  return {
    ...{ id, name: id, path: '', state: 'finished', roles: [], changed: 0, tags: [], problems: [] },
    progress: { step: 0, role: 'trainer' },
    ...{ evaluations: [], checkpoints: [], notes: [] },
    has: { config: false, metrics: false, logs: false, rollouts: true },
  }
}
