import { Episode, environmentOf, type OpenEnvironment, openEnvironment } from '../../environment/index.js'
import type { Metrics } from '../../monitor/monitor.js'
import type { WorkflowContext } from '../context.js'

/** What a workflow wants of an environment. */
export interface EnvironmentPlan {
  readonly environment: string
  readonly environment_args: Readonly<Record<string, unknown>>
  readonly max_env_steps: number | null
}

/** The environment of one run of a task: opened when it is first needed, closed with the workflow. */
export class EnvironmentRun {
  readonly maxSteps: number
  readonly #context: WorkflowContext
  readonly #plan: EnvironmentPlan
  #opening: Promise<OpenEnvironment> | undefined
  #episode: Promise<Episode> | undefined

  constructor(context: WorkflowContext, plan: EnvironmentPlan) {
    this.#context = context
    this.#plan = plan
    this.maxSteps = plan.max_env_steps ?? environmentOf(plan.environment, plan.environment_args).entry.maxSteps
  }

  /** The one episode of this run. All runs of a row begin alike: the seed is the row's number. */
  episode(): Promise<Episode> {
    this.#episode ??= this.#begin()
    return this.#episode
  }

  /** The same episode from its beginning, in the same world; the one before is over. */
  again(): Promise<Episode> {
    this.#episode = this.#begin()
    return this.#episode
  }

  async #begin(): Promise<Episode> {
    const { task, signal, logger, place } = this.#context
    const { environment: name, environment_args: given } = this.#plan
    this.#opening ??= openEnvironment(name, given, { signal, logger, place })
    const { entry, args } = environmentOf(name, given)
    const parts = {
      environment: await this.#opening,
      persona: entry.persona(args),
      maxSteps: this.maxSteps,
      signal,
    }
    return Episode.begin(parts, { row: task.raw, seed: task.index.row, text: task.taskDesc, truth: task.truth })
  }

  async close(): Promise<void> {
    const opened = await this.#opening?.catch(() => undefined)
    await opened?.close()
  }
}

/** Numbers about a whole episode. */
export function episodeMetrics({ won, invalid, repeated }: Episode): Metrics {
  return { success: won ? 1 : 0, invalid_actions: invalid, repeated_actions: repeated }
}
