import type { MetricsRow } from '../metrics-file.js'

/** A table of one step. */
export interface RemoteTable {
  readonly name: string
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  readonly step: number
}

/** A run on a tracking service. Every call may fail and is then made again, as long as that makes sense. */
export interface Remote {
  /** Makes the run, or finds the one of an earlier process again; gives the id to find it by and where to look at it. */
  open(known: string | undefined, signal: AbortSignal): Promise<{ run: string; url?: string; lastStep?: number }>
  /** Rows of rising steps; numbers of an earlier step may follow. Sending the same rows twice in a row must do no harm. */
  send(rows: readonly MetricsRow[], signal: AbortSignal): Promise<void>
  sendTable(table: RemoteTable, signal: AbortSignal): Promise<void>
  /** Tells that the run is still going on, when there is nothing else to tell. */
  alive?(signal: AbortSignal): Promise<void>
  finish(signal: AbortSignal): Promise<void>
  /** The service wants the numbers of a step all at once. */
  readonly wantsWholeSteps: boolean
}
