import type { NoteCounts } from '../dialect/request-notes.js'
import type { DivergenceCounts } from '../experience/divergence.js'
import type { Experience } from '../experience/index.js'
import type { WorkflowContext } from '../workflow/context.js'
import type { RolloutJob } from './job.js'
import { perform } from './perform.js'
import { underWay } from './under-way.js'

/** Which attempt of which run, and by which runner. */
export interface RunPlace {
  readonly run: number
  readonly repeat: number
  readonly attempt: number
  readonly runner: number
}

/** Makes what a workflow gets. */
export type ContextFactory = (job: RolloutJob, place: RunPlace, signal: AbortSignal) => WorkflowContext

/** What a workflow has done. */
export interface Performed {
  readonly experiences: Experience[]
  /** By how many versions the weights went on meanwhile. */
  readonly drift: number
  /** Calls that could not go on from what was said before, by their reason. */
  readonly diverged: DivergenceCounts
  /** Tokens that the policy was made to write, also those that no experience holds. */
  readonly sampledTokens: number
  /** Fields, tools and media of requests that did not reach the model, by label. */
  readonly notes: NoteCounts
}

/** Where workflows run: in this process, or in workers. */
export interface Workplace {
  /** A seat for one attempt. Waiting for it is not part of the attempt's time. */
  take(signal: AbortSignal): Promise<Seat>
  close(): Promise<void>
}

export interface Seat {
  perform(job: RolloutJob, place: RunPlace, signal: AbortSignal): Promise<Performed>
  /** The attempt is over, whatever became of it. */
  leave(): void
}

/** Workflows run in this process, all in one event loop. */
export function workHere(contextOf: ContextFactory): Workplace {
  const seat: Seat = {
    async perform(job, place, signal) {
      const context = contextOf(job, place, signal)
      const { version } = context.model
      const experiences = await underWay(nameOf(job, place.run), context, () => perform(job.entry, context))
      const { diverged, sampledTokens, notes } = context.model.stats
      return { experiences, drift: context.model.version - version, diverged, sampledTokens, notes }
    },
    leave() {},
  }
  return { take: async () => seat, close: async () => {} }
}

/** A run as logs and errors name it. */
export function nameOf(job: Pick<RolloutJob, 'batch' | 'taskId' | 'task'>, run: number): string {
  return `${job.batch}/${job.taskId}/${run} (${job.task.workflow})`
}
