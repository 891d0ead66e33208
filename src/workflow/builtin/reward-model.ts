import { z } from 'zod'
import type { Experience } from '../../experience/index.js'
import type { ChatMessage } from '../../model/index.js'
import type { RewardScores } from '../reward.js'
import { auxiliaryName, workflowArgs } from '../workflow-args.js'
import { MathWorkflow } from './math.js'

const modelArgs = z.strictObject({
  reward_model: auxiliaryName
    .default(0)
    .describe('Auxiliary model that scores: its name or its place in explorer.auxiliary_models.'),
})

/** The reward is what a reward model with a scalar head says of the conversation. */
export class MathRewardModelWorkflow extends MathWorkflow {
  static override readonly doc: string = 'the reward is the number of a reward model with a scalar head'
  static override readonly args = modelArgs
  static override readonly reads: readonly ('prompt' | 'reward')[] = ['prompt']
  readonly args = workflowArgs(this.task, modelArgs)

  override async reward(experience: Experience): Promise<RewardScores> {
    const messages: ChatMessage[] = [
      ...this.messages().filter(({ role }) => role !== 'assistant'),
      { role: 'assistant', content: (this.task.format.reply_prefix ?? '') + (experience.responseText ?? '') },
    ]
    const [score] = await this.auxiliary.reward(this.args.reward_model).ofMessages([messages])
    return { reward_model_score: score }
  }
}
