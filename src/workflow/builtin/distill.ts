import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import type { Experience } from '../../experience/index.js'
import { type RewardScores, scoreResponse } from '../reward.js'
import { SimpleWorkflow } from '../simple.js'
import { auxiliaryName, workflowArgs } from '../workflow-args.js'
import { BOXED } from './prompts.js'

const distillArgs = z.strictObject({
  temperature: z.number().positive().default(1).describe("Temperature of the teacher's log-probs."),
  teacher: auxiliaryName
    .default(0)
    .describe('Auxiliary model that teaches: its name or its place in explorer.auxiliary_models.'),
})

/** The student answers, the teacher says how likely it finds each token. What is learned is in the tokens: the reward is 0. */
export class OnPolicyDistillWorkflow extends SimpleWorkflow {
  static override readonly doc: string = "the student answers, the teacher's log-probs are kept with its own"
  static override readonly args: z.ZodObject = distillArgs
  static override readonly reads: readonly ('prompt' | 'reward')[] = ['prompt']
  readonly args = workflowArgs(this.task, distillArgs)

  override async ask(): Promise<Experience[]> {
    const experiences = await super.ask()
    await Promise.all(experiences.map((experience) => this.#teach(experience)))
    return experiences
  }

  override reward(_experience: Experience): RewardScores | Promise<RewardScores> {
    return {}
  }

  async #teach(experience: Experience): Promise<void> {
    const teacher = this.auxiliary.chat(this.args.teacher)
    if (teacher.tokenizer.vocabSize !== this.model.tokenizer.vocabSize) {
      throw new TrinityError('workflow/args', `teacher '${teacher.name}' has a different vocabulary than the student`, {
        path: 'explorer.auxiliary_models',
        hint: 'distillation compares tokens: use a teacher of the same model family',
      })
    }
    const { tokens, promptLength, logprobs, actionMask } = experience
    const scores = await teacher.logprobs(tokens, { temperature: this.args.temperature })
    // Score i belongs to token i + 1.
    experience.teacherLogprobs = scores.slice(promptLength - 1)
    let [sum, count] = [0, 0]
    for (let i = 0; i < actionMask.length; i++) {
      if (!actionMask[i]) continue
      sum += (logprobs?.[i] ?? 0) - experience.teacherLogprobs[i]
      count++
    }
    if (count > 0) experience.metrics.kl_divergence = sum / count
  }
}

/** The same on mathematics, with accuracy as the reward. */
export class OnPolicyDistillMathWorkflow extends OnPolicyDistillWorkflow {
  static override readonly doc: string = 'on_policy_distill_workflow with a boxed answer, whose accuracy is the reward'
  static override readonly args = distillArgs
  static override readonly reads: readonly ('prompt' | 'reward')[] = ['prompt', 'reward']

  override get defaultReward(): string {
    return 'math_boxed_reward'
  }
  override get defaultSystemPrompt(): string {
    return BOXED
  }
  override async reward(experience: Experience, signal?: AbortSignal): Promise<RewardScores> {
    const { accuracy } = await scoreResponse(this.task, experience, this.defaultReward, { signal })
    return accuracy === undefined ? {} : { accuracy }
  }
}
