import type { z } from 'zod'
import { timeSlice } from '../base/time-slice.js'
import type { Experience } from '../experience/index.js'
import type { ChatMessage } from '../model/index.js'
import { columnOf, missingColumn } from '../task/index.js'
import { type RewardScores, scoreResponse } from './reward.js'
import { scoreRun } from './score-run.js'
import { Workflow } from './workflow.js'
import { noArgs } from './workflow-args.js'

/**
 * One question, one answer, one reward. A subclass says what is asked (`messages`), how it is judged (`reward`), or both.
 * All runs of a task are sampled in one call.
 * @example
 * import { type Experience, SimpleWorkflow, workflows } from 'trinity-rft'
 *
 * class ShortAnswer extends SimpleWorkflow {
 *   override reward({ responseText = '' }: Experience) {
 *     return { right: responseText.trim() === String(this.task.truth) ? 1 : 0, brevity: -0.001 * responseText.length }
 *   }
 * }
 * workflows.add('short_answer', ShortAnswer)
 */
export class SimpleWorkflow extends Workflow {
  static override readonly doc: string = 'one question, one answer, the named reward function'
  static override readonly repeats: boolean = true
  static override readonly reads: readonly ('prompt' | 'reward')[] = ['prompt', 'reward']
  static override readonly args: z.ZodObject = noArgs

  /** Reward function of task sets that name none. */
  get defaultReward(): string | undefined {
    return undefined
  }

  /** System prompt of task sets that give none. */
  get defaultSystemPrompt(): string | undefined {
    return undefined
  }

  get systemPrompt(): string | undefined {
    const { format, raw } = this.task
    const own = format.system_prompt_key ? columnOf(raw, format.system_prompt_key) : undefined
    return typeof own === 'string' ? own : (format.system_prompt ?? this.defaultSystemPrompt)
  }

  /** What is sent: system prompt, the task (text or a list of messages), and the beginning of the answer if one is set. */
  messages(): ChatMessage[] {
    const { taskDesc, format, raw } = this.task
    if (taskDesc === undefined || taskDesc === null) {
      throw missingColumn(raw, 'prompt_key', format.prompt_key ?? 'prompt')
    }
    const asked = Array.isArray(taskDesc) ? (taskDesc as ChatMessage[]) : [{ role: 'user', content: String(taskDesc) }]
    const system = asked[0]?.role === 'system' ? undefined : this.systemPrompt
    return [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      ...asked,
      ...(format.reply_prefix ? [{ role: 'assistant', content: format.reply_prefix }] : []),
    ]
  }

  /** The answers, one per run. */
  ask(): Promise<Experience[]> {
    return this.model.chat(this.messages())
  }

  /**
   * Named parts of the reward; the reward is their sum, and each is a metric. Undefined: there is none to give. When it
   * throws it is asked for again, a few times. The signal fires when the call has taken too long, and with the run.
   */
  reward(experience: Experience, signal?: AbortSignal): RewardScores | undefined | Promise<RewardScores | undefined> {
    return scoreResponse(this.task, experience, this.defaultReward, { signal })
  }

  async run(): Promise<Experience[]> {
    const experiences = await this.ask()
    for (const [i, experience] of experiences.entries()) {
      experience.eid.run = this.context.run + i
      // Nothing was sampled: the stand-in has its reward.
      if (experience.truncateStatus === 'prompt_truncated') continue
      await timeSlice()
      await scoreRun(experience, (signal) => this.reward(experience, signal), this)
    }
    return experiences
  }
}
