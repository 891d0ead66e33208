import { TrinityError } from '../../base/error.js'
import type { Experience } from '../../experience/index.js'
import { missingColumn } from '../../task/index.js'
import type { RewardScores } from '../reward.js'
import { scoreRun } from '../score-run.js'
import { Workflow } from '../workflow.js'
import { ReactAgent, type ReactOptions, type ReactReply } from './react-agent.js'

/** How an agent is set up, but for the model it asks. */
export type ReactSetup<R> = Pick<ReactOptions<R>, 'system' | 'tools' | 'maxSteps' | 'finish'>

/**
 * A task that is worked on by a `ReactAgent`. All that was said gets the reward; what is counted stands at the last
 * sequence. A conversation that outgrows the model ends there, without an answer.
 */
export abstract class ReactWorkflow<R = unknown> extends Workflow {
  /** Tools may be opened for it; `close` closes them. */
  abstract setup(): ReactSetup<R> | Promise<ReactSetup<R>>

  /** Of what the agent replied; undefined: it ran out of room. */
  abstract reward(
    reply: ReactReply<R> | undefined,
    experience: Experience,
    signal: AbortSignal,
  ): Promise<RewardScores | undefined>

  get question(): string {
    const { taskDesc, raw, format } = this.task
    if (taskDesc === undefined || taskDesc === null)
      throw missingColumn(raw, 'prompt_key', format.prompt_key ?? 'prompt')
    return String(taskDesc)
  }

  async run(): Promise<Experience[]> {
    const { model, signal, question } = this
    // the agent would take the stand-in of a prompt that was cut for an answer
    model.refuseLong()
    const agent = new ReactAgent<R>({ ...(await this.setup()), openai: model.openai(), model: model.name, signal })
    const reply = await agent.reply(question).catch(outgrown(() => model.toExperiences().length > 0))
    const experiences = this.kept(model.toExperiences())
    const last = experiences[experiences.length - 1]
    await scoreRun(last, (own) => this.reward(reply, last, own), this)
    Object.assign(last.metrics, { react_memory_length: agent.memory.length }, countsOf(reply))
    for (const [step, experience] of experiences.entries()) {
      experience.eid.step = step
      experience.reward = last.reward
      experience.failure = last.failure
    }
    return experiences
  }

  /** Which sequences are trained on; at least one. */
  protected kept(experiences: Experience[]): Experience[] {
    return experiences
  }
}

function countsOf(reply: ReactReply | undefined): Record<string, number> {
  return reply ? { react_steps: reply.steps, react_calls: reply.calls, react_failed_calls: reply.failedCalls } : {}
}

/** What to do with an error: the end of a conversation that has begun is no failure. */
function outgrown(hasBegun: () => boolean): (error: unknown) => undefined {
  return (error) => {
    if (error instanceof TrinityError && error.code === 'workflow/prompt-too-long' && hasBegun()) return undefined
    throw error
  }
}
