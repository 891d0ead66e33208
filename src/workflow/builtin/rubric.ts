import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import type { Experience } from '../../experience/index.js'
import type { RewardScores } from '../reward.js'
import { SimpleWorkflow } from '../simple.js'
import { auxiliaryName, workflowArgs } from '../workflow-args.js'
import { OpenaiJudge, openaiJudgeArgs } from './openai-judge.js'
import { lastJson } from './verdict.js'

interface Criterion {
  description: string
  weight?: number
}

/**
 * A judge rates the answer from 1 to 10 against the rubric of the task; the reward is a tenth of the rating. Where the
 * judge gives no rating there is no reward: such an answer is counted and not trained on.
 */
abstract class RubricWorkflow extends SimpleWorkflow {
  static override readonly reads: readonly ('prompt' | 'reward')[] = ['prompt']

  /** What the judge says. */
  abstract verdict(question: string, signal?: AbortSignal): Promise<string>

  override async reward(experience: Experience, signal?: AbortSignal): Promise<RewardScores | undefined> {
    const verdict = await this.verdict(this.#question(experience.responseText ?? ''), signal)
    const rating = Number((lastJson(verdict, '{') as { rating?: unknown } | undefined)?.rating)
    const valid = rating >= 1 && rating <= 10
    experience.metrics.judge_success = valid ? 1 : 0
    if (!valid) this.logger.warn(`the judge gave no rating: ${JSON.stringify(verdict)}`)
    return valid ? { rubric_score: rating * 0.1 } : undefined
  }

  #question(answer: string): string {
    const { rubric } = this.task.raw
    if (!Array.isArray(rubric) || rubric.length === 0) {
      throw new TrinityError('workflow/args', "the task has no column 'rubric' with a list of criteria", {
        hint: 'rubric: [{ description: …, weight: … }]',
      })
    }
    const lines = (rubric as Criterion[]).map(({ description, weight = 1 }) => `- (weight ${weight}) ${description}`)
    return [
      'You judge an answer. Rate how well it meets the criteria below as a whole, heavier ones counting more.',
      `Criteria:\n${lines.join('\n')}`,
      `Question:\n${String(this.task.taskDesc)}`,
      `Answer:\n${answer}`,
      'Give a rating from 1 (meets none) to 10 (meets all). End with JSON and nothing behind it: {"rating": 7}',
    ].join('\n\n')
  }
}

const judgeArgs = z.strictObject({
  judge_model: auxiliaryName
    .default(0)
    .describe('Auxiliary model that judges: its name or its place in explorer.auxiliary_models.'),
})

/** The judge is an auxiliary model. */
export class RubricJudgeWorkflow extends RubricWorkflow {
  static override readonly doc: string = "a judge rates the answer against the row's rubric"
  static override readonly args = judgeArgs
  static override readonly reads: readonly ('prompt' | 'reward')[] = ['prompt']
  readonly args = workflowArgs(this.task, judgeArgs)

  async verdict(question: string): Promise<string> {
    const judge = this.auxiliary.chat(this.args.judge_model)
    const [{ responseText = '' }] = await judge.chat([{ role: 'user', content: question }], { n: 1 })
    return responseText
  }
}

/** The judge is a model behind an address. */
export class RubricJudgeOpenaiWorkflow extends RubricWorkflow {
  static override readonly doc: string =
    "a model of an OpenAI-compatible service rates the answer against the row's rubric"
  static override readonly args = openaiJudgeArgs
  static override readonly reads: readonly ('prompt' | 'reward')[] = ['prompt']
  readonly #judge = new OpenaiJudge(workflowArgs(this.task, openaiJudgeArgs))

  verdict(question: string, signal?: AbortSignal): Promise<string> {
    return this.#judge.ask(question, signal ?? this.signal)
  }
}
