import type { LogDir } from '../base/log/logger.js'
import type { BestEval, Checkpoints } from '../checkpoint/index.js'
import type { Config } from '../config/index.js'
import type { OpenEngine } from '../engine/registry.js'
import type { Monitor } from '../monitor/monitor.js'
import type { RunCounts } from '../monitor/run-counts.js'
import type { SpanFile } from '../monitor/span/span-file.js'
import type { RunView } from '../monitor/view.js'
import type { Closers } from './closers.js'
import type { Startup } from './startup.js'
import type { Stop } from './stop.js'

/** A view that may also want to know how many steps there will be. */
export type ProgressView = RunView & { expect?(role: string, steps: number): void }

/** What every mode of a stage works with. */
export interface Job {
  readonly config: Config
  /** Directory that the policy starts from; null: `model.model_path`. */
  readonly startFrom: string | null
  /** The user asked for the trainer's engine by name. */
  readonly engineNamed: boolean
  readonly openEngine: OpenEngine
  readonly checkpoints: Checkpoints
  readonly logs: LogDir
  readonly view: ProgressView
  readonly stop: Stop
  readonly closers: Closers
  openMonitor(role: string): Promise<Monitor>
  /** Absent with the monitor 'none'. */
  readonly spans?: SpanFile
  readonly startup: Startup
  /** What the newest checkpoint was made with and this run is not, in words. */
  readonly otherSettings: readonly string[]
  note(text: string): void
}

/** How a mode ended. */
export interface ModeEnd {
  /** `partial`: it made less than it was asked for, and was not asked to stop. */
  readonly end: 'finished' | 'stopped' | 'partial'
  /** `partial`: what is missing and why, such as `after 6 of 8 steps: 24 of 96 experiences were dropped`. */
  readonly reason?: string
  readonly counts?: RunCounts
  /** Training steps done in all; explore steps where nothing is trained. */
  readonly steps: number
  /** Of this run alone, where it is not the job's own. */
  readonly best?: BestEval
}

export type RunMode = (job: Job) => Promise<ModeEnd>
