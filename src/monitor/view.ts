import type { Experience } from '../experience/index.js'
import type { RunCounts } from './run-counts.js'

/** What a person sees of a run while it goes on. */
export interface RunView {
  /** How many steps a role will make in all, where known: the time left follows from it. */
  expect?(role: string, steps: number): void
  /** What a role is doing now. */
  phase(role: string, what: string): void
  metrics(role: string, step: number, metrics: Readonly<Record<string, number>>): void
  /** The worst and the best of a step. */
  examples?(role: string, step: number, experiences: readonly Experience[]): void
  /** Something worth reading once. */
  note(text: string): void
  end(summary: RunSummary): void
  close(): void
}

/** The last words of a run. */
export interface RunSummary {
  readonly ok: boolean
  /** It was asked to end before its end. */
  readonly stopped?: boolean
  /** Reason of a run that made less than it was asked for and was not asked to stop. */
  readonly partial?: string
  /** Counts of the job. Undefined if nothing was run, or the mode keeps none. */
  readonly counts?: RunCounts
  /** An earlier run has done everything: there was nothing to do. */
  readonly isOld?: boolean
  /** What has changed since then, a line each. */
  readonly changed?: readonly string[]
  /** In all, with those of earlier runs of the job. */
  readonly steps: number
  /** Those of this run, where it is known. */
  readonly now?: number
  readonly seconds: number
  readonly firstEval?: { readonly step: number; readonly metric: string; readonly score: number }
  readonly bestEval?: { readonly step: number; readonly metric: string; readonly score: number }
  /** Directory of the last weights, if any were saved. */
  readonly checkpoint?: string
  /** What to run next: a command, and after three blanks what it does. */
  readonly next?: readonly string[]
}
