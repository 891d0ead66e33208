import type { z } from 'zod'
import type { Episode } from '../../environment/index.js'
import type { ChatMessage } from '../../model/index.js'
import { combine } from '../../monitor/combine.js'
import type { Metrics } from '../../monitor/monitor.js'
import { MultiTurnWorkflow, type Outcome } from '../multi-turn.js'
import { workflowArgs } from '../workflow-args.js'
import { environmentArgs } from './args.js'
import { converse } from './converse.js'
import { type EnvironmentPlan, EnvironmentRun, episodeMetrics } from './run.js'

/** An episode as one conversation, which becomes one experience. A subclass may say which environment (`plan`). */
export class EnvironmentWorkflow extends MultiTurnWorkflow {
  static override readonly doc: string = 'an episode in an environment, as one experience with the reward of the whole'
  static override readonly args: z.ZodObject = environmentArgs
  readonly #run = new EnvironmentRun(this.context, this.plan())

  protected plan(): EnvironmentPlan {
    return workflowArgs(this.task, environmentArgs)
  }

  /** The one episode of this run, begun when it is first asked for. */
  protected episode(): Promise<Episode> {
    return this.#run.episode()
  }

  override async play(): Promise<Outcome> {
    const episode = await this.episode()
    await this.converse(episode, () => episode.messages())
    const steps = combine(episode.turn.past.map(({ transition }) => transition.metrics ?? {}))
    return { reward: episode.score, info: { ...steps, ...this.metrics(episode) } }
  }

  /** Asks the model with these messages, turn by turn. */
  protected async converse(episode: Episode, messages: () => ChatMessage[]): Promise<void> {
    await converse(this.model, episode, { messages, room: (asked) => this.room(asked) })
  }

  /** The most tokens of the next reply; undefined: what holds for every reply. None left: the episode ends here. */
  protected room(_messages: readonly ChatMessage[]): number | undefined {
    return undefined
  }

  /** Numbers about the whole episode. */
  protected metrics(episode: Episode): Metrics {
    return { ...episodeMetrics(episode), actual_env_steps: episode.turn.step }
  }

  override async close(): Promise<void> {
    await this.#run.close()
  }
}
