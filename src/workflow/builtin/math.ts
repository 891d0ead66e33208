import { z } from 'zod'
import type { Experience } from '../../experience/index.js'
import { missingColumn } from '../../task/index.js'
import { type RewardScores, scoreResponse } from '../reward.js'
import { SimpleWorkflow } from '../simple.js'
import { noArgs, workflowArgs } from '../workflow-args.js'
import { BOXED, BOXED_THINK, EVAL_BOXED, THINK_ANSWER } from './prompts.js'

/** Reasoning between think tags, the answer between answer tags. */
export class MathWorkflow extends SimpleWorkflow {
  static override readonly doc: string = 'reasoning and answer between tags, math_reward'
  static override readonly args: z.ZodObject = noArgs

  override get defaultReward(): string {
    return 'math_reward'
  }
  override get defaultSystemPrompt(): string {
    return THINK_ANSWER
  }
}

export const boxedArgs = z.strictObject({
  use_base: z.boolean().default(false).describe('Send plain text to a base model instead of a chat.'),
  with_think: z
    .boolean()
    .default(false)
    .describe('Ask for reasoning between think tags, and take points off where it is missing.'),
  format_score_coef: z.number().default(0.1).describe('What a missing or repeated <think> pair costs.'),
})

/** The answer in \boxed{}. Answers that ran out of room are not trained on. */
export class MathBoxedWorkflow extends SimpleWorkflow {
  static override readonly doc: string = 'answer in \\boxed{}, math_boxed_reward'
  static override readonly args: z.ZodObject = boxedArgs
  static override readonly reads: readonly ('prompt' | 'reward')[] = ['prompt', 'reward']
  readonly args = workflowArgs(this.task, boxedArgs)

  override get defaultReward(): string {
    return 'math_boxed_reward'
  }
  override get defaultSystemPrompt(): string | undefined {
    return this.args.with_think ? BOXED_THINK : BOXED
  }

  override ask(): Promise<Experience[]> {
    if (!this.args.use_base) return super.ask()
    const said = this.messages().map(({ role, content }) => `${role[0].toUpperCase()}${role.slice(1)}:\n${content}\n`)
    const begins = this.task.format.reply_prefix ? said.join('\n').trimEnd() : `${said.join('\n')}\nAssistant:\n`
    return this.model.generate(begins)
  }

  override async reward(experience: Experience, signal?: AbortSignal): Promise<RewardScores> {
    const { with_think, format_score_coef } = this.args
    if (experience.truncateStatus === 'response_truncated') experience.actionMask.fill(0)
    return scoreResponse(this.task, experience, this.defaultReward, {
      withThink: with_think,
      formatScoreCoef: format_score_coef,
      signal,
    })
  }
}

/** Evaluation as the Qwen2.5-Math report does it: fixed sampling, accuracy only. */
export class MathEvalWorkflow extends SimpleWorkflow {
  static override readonly doc: string = 'evaluation with fixed sampling: accuracy, no reward'
  static override readonly args = noArgs
  /** The question may also be in the column `question`. */
  static override readonly reads: readonly ('prompt' | 'reward')[] = ['reward']

  override get defaultReward(): string {
    return 'accuracy_reward'
  }
  override get defaultSystemPrompt(): string {
    return EVAL_BOXED
  }

  override messages() {
    const { raw, taskDesc, format } = this.task
    const question = typeof raw.question === 'string' ? raw.question : taskDesc
    if (question === undefined || question === null) {
      throw missingColumn(raw, 'prompt_key', format.prompt_key ?? 'prompt')
    }
    return [
      { role: 'system', content: this.systemPrompt ?? EVAL_BOXED },
      { role: 'user', content: String(question) },
    ]
  }

  override ask(): Promise<Experience[]> {
    return this.model.chat(this.messages(), { temperature: 0.6, top_p: 0.8 })
  }

  override async run(): Promise<Experience[]> {
    const experiences = await super.run()
    for (const experience of experiences) delete experience.reward
    return experiences
  }
}
