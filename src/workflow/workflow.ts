import type { z } from 'zod'
import type { Logger } from '../base/log/logger.js'
import type { Pcg64 } from '../base/random/index.js'
import type { Experience } from '../experience/index.js'
import type { Task } from '../task/index.js'
import type { AuxiliaryModels } from './auxiliary.js'
import type { WorkflowContext } from './context.js'
import type { RolloutModel } from './rollout-model.js'

/**
 * What a user extends: one object per run of a task.
 * @example
 * import { Workflow, workflows } from 'trinity-rft'
 *
 * class Guess extends Workflow {
 *   async run() {
 *     const [answer] = await this.model.chat([{ role: 'user', content: String(this.task.taskDesc) }])
 *     answer.reward = answer.responseText?.trim() === String(this.task.truth) ? 1 : 0
 *     return [answer]
 *   }
 * }
 * workflows.add('guess', Guess)
 */
export abstract class Workflow {
  /**
   * One `run()` gives the experiences of all runs of the task (it samples them in one call, which shares the prompt).
   * Such a workflow sets `eid.run` itself, from `context.run` on. Others are run once per repetition and never see n.
   */
  static readonly repeats: boolean = false
  /** A run gives any number of experiences: nobody knows how many training steps come of so many tasks. */
  static readonly givesAny: boolean = false
  /** One line for people, of this class alone. */
  static readonly doc?: string
  /**
   * What of a record it cannot do without: the column of the prompt, and what its reward function needs. A task set
   * that has no such column is refused. Absent: a record may hold anything.
   */
  static readonly reads?: readonly ('prompt' | 'reward')[]
  /** What may stand in `workflow_args`, checked before anything runs. Of this class alone: subclasses give their own. */
  static readonly args?: z.ZodObject

  /** How many runs a task takes. */
  static runsOf(task: Task): number {
    return task.repeatTimes
  }

  readonly context: WorkflowContext

  constructor(context: WorkflowContext) {
    this.context = context
  }

  get task(): Task {
    return this.context.task
  }
  get model(): RolloutModel {
    return this.context.model
  }
  get auxiliary(): AuxiliaryModels {
    return this.context.auxiliary
  }
  get logger(): Logger {
    return this.context.logger
  }
  get random(): Pcg64 {
    return this.context.random
  }
  get signal(): AbortSignal {
    return this.context.signal
  }

  abstract run(): Promise<Experience[]>

  /** Runs after `run()`, also when it failed or was cancelled: close environments here. */
  async close(): Promise<void> {}
}

export interface WorkflowClass {
  new (context: WorkflowContext): Workflow
  readonly repeats: boolean
  readonly givesAny: boolean
  readonly doc?: string
  readonly reads?: readonly ('prompt' | 'reward')[]
  readonly args?: z.ZodObject
  readonly prototype: Workflow
  runsOf(task: Task): number
}

/** A workflow without a class. */
export type WorkflowFunction = (context: WorkflowContext) => Promise<readonly Experience[] | Experience>

/** A workflow by name in the registry: a class, or a function. */
export type WorkflowEntry = WorkflowClass | WorkflowFunction

export function isWorkflowClass(entry: WorkflowEntry): entry is WorkflowClass {
  return (entry as { prototype?: unknown }).prototype instanceof Workflow
}

/** What a workflow says of its arguments itself; undefined: anything goes. */
export function argsOf(entry: WorkflowEntry | undefined): z.ZodObject | undefined {
  return entry && isWorkflowClass(entry) && Object.hasOwn(entry, 'args') ? entry.args : undefined
}

/** Does one run of the workflow make all repetitions of a task? */
export function repeatsItself(entry: WorkflowEntry): boolean {
  return isWorkflowClass(entry) && entry.repeats
}

/** How many runs a task takes. */
export function runsOf(entry: WorkflowEntry, task: Task): number {
  return isWorkflowClass(entry) ? entry.runsOf(task) : task.repeatTimes
}
