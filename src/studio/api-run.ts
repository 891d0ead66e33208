import type { Folder, Json, LogLevel } from './api.js'

/** Types of the list of runs, and of one run. */

export interface RunList {
  readonly folders: readonly Folder[]
  /** Newest change first. */
  readonly runs: readonly RunSummary[]
}

/**
 * `running`: a process holds the job. `waiting`: so it does, and every part that is there waits for another. `finished`: it got
 * to the end that it was asked for. `failed`: its last words are an error. `broken`: files that say how it is cannot be read.
 * `partial`: it ended after fewer steps than it was asked for; `error` has the reason. `stopped`: none of these; it can be resumed.
 */
export type RunState = 'running' | 'waiting' | 'finished' | 'partial' | 'failed' | 'broken' | 'stopped'

export interface RunSummary {
  /** Of the folder; the same in every session of Studio on this machine. */
  readonly id: string
  /** `project/group/name`, as the run calls itself; else the path below the folder. */
  readonly name: string
  /** Absolute. */
  readonly path: string
  readonly state: RunState
  /** Who takes part, where a process says so. */
  readonly roles: readonly RoleState[]
  /** States `failed` and `partial`. */
  readonly error?: RunError
  readonly progress: Progress
  readonly evaluation?: Evaluations
  /** At most 60 means of neighboring steps, oldest first. Absent: no rewards on record. */
  readonly spark?: Spark
  readonly mode?: string
  readonly algorithm?: string
  readonly model?: string
  /** Of the trainer and of the samplers, where known. */
  readonly engine?: { readonly trainer?: string; readonly sampler?: string }
  /** First and last sign of life. */
  readonly started?: number
  readonly changed: number
  /** Words that somebody has given it. */
  readonly tags: readonly string[]
  /** Files of the run that could not be understood; the rest of the answer holds without them. */
  readonly problems: readonly string[]
}

export interface RoleState {
  readonly role: string
  readonly pid?: number
  readonly host?: string
  /** Whom or what it waits for, in words. */
  readonly waitsFor?: string
  readonly step?: number
  /** Training step whose weights it has. */
  readonly version?: number
}

export interface RunError {
  /** `engine/out-of-memory`, where the message names one. */
  readonly code?: string
  /** First lines of what was logged. */
  readonly message: string
  readonly at?: number
}

export interface Progress {
  /** Training steps done; explore steps where nothing is trained. */
  readonly step: number
  /** Steps in all. Absent: not known. */
  readonly total?: number
  readonly role: 'trainer' | 'explorer'
  /** Of the last steps. */
  readonly secondsPerStep?: number
  /** State `running` or `waiting` only. */
  readonly secondsLeft?: number
}

export interface Evaluation {
  readonly step: number
  readonly metric: string
  readonly score: number
}

export interface Evaluations {
  readonly first: Evaluation
  readonly best: Evaluation
  readonly last: Evaluation
}

export interface Spark {
  readonly metric: string
  /** Of the last step that has one: not a mean. Absent: none is finite. */
  readonly last?: number
  readonly values: readonly (number | null)[]
}

export interface RunDetail extends RunSummary {
  /** The configuration file that it was started with, where it said so. */
  readonly file?: string
  /** All evaluations, by step. */
  readonly evaluations: readonly (Evaluation & { readonly metrics: Readonly<Record<string, number>> })[]
  /** By step. */
  readonly checkpoints: readonly CheckpointInfo[]
  /** Warnings and hints that the run has logged, newest last; at most 200. */
  readonly notes: readonly Note[]
  /** What can be opened: pages without content say so. */
  readonly has: {
    readonly config: boolean
    readonly metrics: boolean
    readonly logs: boolean
    readonly rollouts: boolean
  }
}

export interface CheckpointInfo {
  readonly step: number
  /** Absolute. */
  readonly path: string
  /** Training can be resumed from it; false: weights alone. */
  readonly full: boolean
  readonly isNewest: boolean
  readonly isBest: boolean
  readonly bytes?: number
  readonly savedAt?: number
  /** Folder for any loader of Hugging Face models. */
  readonly weights?: string
  readonly evaluation?: Evaluation
}

export interface Note {
  readonly at?: number
  readonly level: LogLevel
  /** Name of the log. */
  readonly from: string
  readonly text: string
}

/** What goes when a run is deleted. */
export interface Deletion {
  readonly files: number
  readonly bytes: number
  /** In its folder, but not of the run: it stays. */
  readonly kept: readonly string[]
}

export interface TagList {
  readonly tags: readonly string[]
}

/** The configuration that the run resolved; secrets are `***`. */
export interface RunConfig {
  /** Of the file that was given, as far as the run has noted it. */
  readonly source?: string
  /** Of the resolved configuration. Absent: the run did not record it. */
  readonly yaml?: string
  readonly config?: Json
  /** Values that are not the default, in order of the schema. */
  readonly changed: readonly ConfigDifference[]
  /** In words: steps, batches, memory. */
  readonly plan: readonly PlanSection[]
  /** Why something of this is not there. */
  readonly missing: readonly string[]
}

export interface ConfigDifference {
  /** `buffer.batch_size` */
  readonly key: string
  readonly value: Json
  /** Absent: the key has no default. */
  readonly default?: Json
  /** One line of documentation. */
  readonly doc?: string
}

export interface PlanSection {
  readonly title: string
  readonly lines: readonly string[]
}
