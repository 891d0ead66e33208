/**
 * What the server of Studio and its page say to each other: plain JSON, pure types. Everything is below
 * `/api`. A key that is not known is absent, not null. Times are seconds since 1970. Numbers that are not finite are
 * `null` where a chart expects a gap, and texts (`"NaN"`, `"Infinity"`, `"-Infinity"`) everywhere else.
 *
 * | GET                                    | query                                | answer          |
 * |----------------------------------------|--------------------------------------|-----------------|
 * | /api/session                           |                                      | Session         |
 * | /api/runs                              |                                      | RunList         |
 * | /api/runs/:run                         |                                      | RunDetail       |
 * | /api/runs/:run/deletion                |                                      | Deletion        |
 * | /api/runs/:run/config                  |                                      | RunConfig       |
 * | /api/runs/:run/metrics                 |                                      | MetricList      |
 * | /api/runs/:run/series                  | SeriesQuery                          | SeriesAnswer    |
 * | /api/runs/:run/timeline                | TimelineQuery                        | Timeline        |
 * | /api/runs/:run/logs                    |                                      | LogList         |
 * | /api/runs/:run/log                     | LogQuery                             | LogPage         |
 * | /api/runs/:run/stores                  |                                      | StoreList       |
 * | /api/runs/:run/rollouts                | RolloutQuery                         | RolloutPage     |
 * | /api/runs/:run/rollouts/histogram      | HistogramQuery                       | RewardHistogram |
 * | /api/runs/:run/rollouts/extremes       | ExtremesQuery                        | Extremes        |
 * | /api/runs/:run/rollouts/tasks          | TasksQuery                           | TaskPage        |
 * | /api/runs/:run/rollouts/attempts       | AttemptsQuery                        | Attempts        |
 * | /api/runs/:run/rollout                 | { store, id }                        | Rollout         |
 * | /api/machine                           |                                      | MachineReport   |
 * | /api/report                            |                                      | PerfReport      |
 * | /api/events                            | { run? }                             | RunEvents (SSE) |
 * | /api/form                              |                                      | Form            |
 * | /api/templates                         |                                      | TemplateList    |
 * | /api/template                          | { name }                             | SourceText      |
 * | /api/files                             |                                      | FileList        |
 * | /api/file                              | Place                                | SourceText      |
 * | /api/runs/:run/source                  |                                      | SourceText      |
 * | /api/runs/:run/exports                 |                                      | ExportList      |
 * | /api/started                           |                                      | StartedList     |
 * | /api/models                            |                                      | ModelList       |
 * | /api/runs/:run/tasksets                |                                      | TasksetList     |
 *
 * | POST, by the page alone                | body                                 | answer          |
 * |----------------------------------------|--------------------------------------|-----------------|
 * | /api/check                             | CheckQuery                           | CheckAnswer     |
 * | /api/import-verl                       | ImportQuery                          | SourceText      |
 * | /api/save                              | SaveQuery                            | SaveAnswer      |
 * | /api/start                             | StartQuery                           | Started         |
 * | /api/runs/:run/stop                    | StopQuery                            | StopAnswer      |
 * | /api/runs/:run/export                  | ExportQuery                          | Exported        |
 * | /api/runs/:run/score                   | ScoreQuery                           | RolloutScores   |
 * | /api/chat                              | ChatQuery                            | ChatReply       |
 * | /api/try                               | TryQuery                             | TryAnswer       |
 * | /api/models/close                      | CloseQuery                           | {}              |
 *
 * `:run` is `RunSummary.id`. Lists in a query are written by repeating the key (`name=a&name=b`). An error has a status
 * of 400 and above and the body `ApiError`. A page without a cookie gets 401: the person opens the printed address again.
 */

import type { RunDetail, RunList, RunSummary } from './api-run.js'

export type * from './api-machine.js'
export type * from './api-playground.js'
export type * from './api-rollout.js'
export type * from './api-run.js'
export type * from './api-write.js'

/** Body of every answer that is no success. */
export interface ApiError {
  readonly error: {
    /** Stable: `studio/no-run`. */
    readonly code: string
    readonly message: string
    readonly hint?: string
    readonly path?: string
  }
}

export type OddNumber = 'NaN' | 'Infinity' | '-Infinity'
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

export interface Session {
  /** Of the package. */
  readonly version: string
  readonly folders: readonly Folder[]
  /** Runs can be written and started here. */
  readonly writes: boolean
  /** What `trinity view` was asked to show: a run that has nothing but rollouts. */
  readonly opens?: {
    readonly run: string
    readonly store: string
    /** `sft`: conversations are what matters, tokens come second. */
    readonly schema: 'experience' | 'sft'
  }
  /** The file that `trinity perf view` was asked to show. */
  readonly report?: string
}

/** One of the folders that Studio was given. */
export interface Folder {
  readonly path: string
  /** Why runs below it may be missing. */
  readonly problem?: string
}

// ------------------------------------------------------------------------------------------------------- metrics

export interface MetricList {
  /** In order of name. */
  readonly metrics: readonly MetricInfo[]
  /** Steps on record, by role. */
  readonly roles: readonly {
    readonly role: string
    readonly steps: number
    readonly first?: number
    readonly last?: number
  }[]
}

export interface MetricInfo {
  readonly name: string
  readonly role: string
  /** How many steps have it. */
  readonly count: number
  readonly last: number | OddNumber
}

export interface SeriesQuery {
  /** Repeated. At most 100. */
  readonly name: readonly string[]
  /** Only of this role; default: the first that has the metric. */
  readonly role?: string
  /** Most points of one series, 2 to 10,000; default 1,000. */
  readonly points?: number
  /** Steps, both included. */
  readonly from?: number
  readonly to?: number
}

export interface SeriesAnswer {
  readonly series: readonly Series[]
  /** Names that the run does not have. */
  readonly unknown: readonly string[]
}

/** Arrays of one length. Where steps were put together, `y` is their mean and `low` and `high` their range. */
export interface Series {
  readonly name: string
  readonly role: string
  /** First step of each point. */
  readonly step: readonly number[]
  /** Seconds since 1970 of that step. */
  readonly time: readonly number[]
  /** null: no finite number. */
  readonly y: readonly (number | null)[]
  /** Absent: every point is one step. */
  readonly low?: readonly (number | null)[]
  readonly high?: readonly (number | null)[]
  /** Steps with numbers that are not finite; at most 100. */
  readonly odd: readonly { readonly step: number; readonly value: OddNumber }[]
  /** Steps in the range, before anything was put together. */
  readonly count: number
}

// ------------------------------------------------------------------------------------------------------ timeline

export interface TimelineQuery {
  /** Seconds since 1970; default: the last 10 steps of the run, at most 10 minutes. */
  readonly from?: number
  readonly to?: number
  /** Most spans of one lane; default 2,000. Shorter ones are put together. */
  readonly spans?: number
}

export interface Timeline {
  /** What the whole run covers. */
  readonly begin: number
  readonly end: number
  /** What this answer covers. */
  readonly from: number
  readonly to: number
  readonly lanes: readonly Lane[]
  /** What the run does not record, in words: shown below the lanes. */
  readonly missing: readonly string[]
}

export interface Lane {
  readonly name: string
  readonly kind: 'explorer' | 'sampler' | 'trainer' | 'synchronizer'
  readonly spans: readonly Span[]
}

export interface Span {
  readonly begin: number
  readonly end: number
  /** `wait` is drawn lighter: the lane has nothing to do. */
  readonly kind: 'work' | 'wait' | 'sync' | 'save' | 'eval' | 'other'
  readonly label: string
  readonly step?: number
  /** Placed by its length and the end of its step: begin and end may be off by the time that nobody measured. */
  readonly isEstimate?: boolean
  /** So many spans that were too short to draw; absent: one. */
  readonly merged?: number
  /** With `merged`: how long they took together; between `begin` and `end` there was time for others. */
  readonly seconds?: number
}

// ---------------------------------------------------------------------------------------------------------- logs

export type LogLevel = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR'

export interface LogList {
  readonly logs: readonly LogInfo[]
}

export interface LogInfo {
  /** `trainer`, `10.0.0.1/explorer`, `trainer.log.1` for one that was moved aside: the value of `file` in queries. */
  readonly file: string
  readonly bytes: number
  readonly changed: number
}

/** Without `before` and `after`: the end of the file. */
export interface LogQuery {
  readonly file: string
  /** Byte offset: lines that end before it. */
  readonly before?: number
  /** Byte offset: lines that begin there or later. */
  readonly after?: number
  /** Most lines, 1 to 5,000; default 500. */
  readonly limit?: number
  readonly level?: LogLevel
  /** Only lines that contain it, whatever its case. */
  readonly text?: string
}

export interface LogPage {
  readonly file: string
  readonly lines: readonly LogLine[]
  /** Ask with `before: from` for what comes before, with `after: to` for what comes behind. */
  readonly from: number
  readonly to: number
  readonly atBegin: boolean
  readonly atEnd: boolean
  /** The search stopped after so many bytes, not because nothing else is there: ask again to go on. */
  readonly isPartial: boolean
  readonly bytes: number
}

export interface LogLine {
  /** Byte offset in the file: the key of a list. */
  readonly at: number
  readonly level: LogLevel
  readonly text: string
}

// -------------------------------------------------------------------------------------------------------- events

/** Server-sent events of `/api/events`, by name; `data` is JSON. Those below the line come with `run` only. */
export interface RunEvents {
  /** First of all, and whenever folders change as a whole. */
  readonly runs: RunList
  /** Runs that are new or have changed. */
  readonly changed: { readonly runs: readonly RunSummary[] }
  readonly gone: { readonly ids: readonly string[] }
  // -----
  readonly detail: RunDetail
  /** Rows of steps that are new, or have got more numbers. */
  readonly metrics: { readonly role: string; readonly rows: readonly MetricsRow[] }
  /** Steps above this one are gone: a resumed run makes them again. null: everything must be read again. */
  readonly rewind: { readonly role: string; readonly step: number | null }
  /** The checkpoints, the rollouts or the logs have changed: ask again if they are shown. */
  readonly stale: { readonly what: readonly ('logs' | 'rollouts' | 'timeline' | 'config')[] }
}

export interface MetricsRow {
  readonly step: number
  readonly time: number
  readonly metrics: Readonly<Record<string, number | OddNumber>>
}
