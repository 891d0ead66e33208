import { z } from 'zod'
import { joined } from '../../experience/conversation.js'
import type { Experience } from '../../experience/index.js'
import { scoreResponse } from '../reward.js'
import { scoreRun } from '../score-run.js'
import { SimpleWorkflow } from '../simple.js'
import { workflowArgs } from '../workflow-args.js'

const budgetArgs = z.strictObject({
  thinking_token_budget: z.number().int().min(0).describe('Most tokens the model may think.'),
  reasoning_end_str: z.string().min(1).default('</think>').describe('What ends the reasoning.'),
})

/**
 * Lets the model think for so many tokens. When it has not come to an end by then, the end of thinking is put behind what
 * it thought and it goes on from there; what was put there is not trained on. The reward is the configured one, if any.
 */
export class ThinkingBudgetWorkflow extends SimpleWorkflow {
  static override readonly doc: string = 'ends the thinking after a given number of tokens'
  static override readonly repeats = false
  static override readonly args = budgetArgs
  static override readonly reads: readonly ('prompt' | 'reward')[] = ['prompt', 'reward']
  readonly args = workflowArgs(this.task, budgetArgs)

  override async run(): Promise<Experience[]> {
    const { thinking_token_budget: budget, reasoning_end_str: end } = this.args
    const most = this.model.limits.maxResponseTokens ?? Number.POSITIVE_INFINITY
    let prompt = this.model.promptTokens(this.messages())
    let cut = true
    if (budget > 0) {
      const [thought] = await this.model.chat(this.messages(), { max_tokens: Math.min(budget, most) })
      const stopped = thought.truncateStatus !== 'response_truncated'
      if (stopped || most <= budget) return this.#finish([thought], false)
      prompt = thought.tokens
      cut = !thought.responseText?.includes(end)
    }
    if (cut) prompt = joined(prompt, this.model.tokenizer.encode(`\n${end}\n\n`))
    await this.model.generate(prompt, Number.isFinite(most) ? { max_tokens: Math.max(1, most - budget) } : {})
    return this.#finish(this.model.toExperiences(), cut)
  }

  async #finish(experiences: Experience[], cut: boolean): Promise<Experience[]> {
    for (const experience of experiences) {
      experience.metrics.thinking_cut = cut ? 1 : 0
      if (!this.task.rewardFn) continue
      await scoreRun(experience, (signal) => scoreResponse(this.task, experience, undefined, { signal }), this)
    }
    return experiences
  }
}
