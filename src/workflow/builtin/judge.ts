import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import type { Experience } from '../../experience/index.js'
import { type RewardScores, scoreResponse } from '../reward.js'
import { SimpleWorkflow } from '../simple.js'
import { auxiliaryName, workflowArgs } from '../workflow-args.js'
import { MathWorkflow } from './math.js'

const judgeArgs = z.strictObject({ judge_model: auxiliaryName.default(0) })

/** The last JSON value between these brackets in a text; undefined where there is none. */
function lastJson(text: string, open: '{' | '['): unknown {
  const close = open === '{' ? '}' : ']'
  const end = text.lastIndexOf(close)
  for (let at = text.lastIndexOf(open, end); at >= 0; at = text.lastIndexOf(open, at - 1)) {
    try {
      return JSON.parse(text.slice(at, end + 1))
    } catch {
      if (at === 0) break
    }
  }
  return undefined
}

interface Rubric {
  description: string
  weight?: number
}

/**
 * A judge rates the answer from 1 to 10 against the rubric of the task; the reward is a tenth of the rating. Where the
 * judge gives no rating there is no reward: such an answer is counted and not trained on.
 */
export class RubricJudgeWorkflow extends SimpleWorkflow {
  static override readonly doc: string = "a judge rates the answer against the row's rubric"
  static override readonly args = judgeArgs
  static override readonly reads: readonly ('prompt' | 'reward')[] = ['prompt']
  readonly args = workflowArgs(this.task, judgeArgs)

  override async reward(experience: Experience): Promise<RewardScores | undefined> {
    const [verdict] = await this.auxiliary
      .chat(this.args.judge_model)
      .chat([{ role: 'user', content: this.#question(experience.responseText ?? '') }], { n: 1 })
    const rating = Number((lastJson(verdict.responseText ?? '', '{') as { rating?: unknown } | undefined)?.rating)
    const valid = rating >= 1 && rating <= 10
    experience.metrics.judge_success = valid ? 1 : 0
    if (!valid) this.logger.warn(`the judge gave no rating: ${JSON.stringify(verdict.responseText)}`)
    return valid ? { rubric_score: rating * 0.1 } : undefined
  }

  #question(answer: string): string {
    const { rubric } = this.task.raw
    if (!Array.isArray(rubric) || rubric.length === 0) {
      throw new TrinityError('workflow/args', "the task has no column 'rubric' with a list of criteria", {
        hint: 'rubric: [{ description: …, weight: … }]',
      })
    }
    const lines = (rubric as Rubric[]).map(({ description, weight = 1 }) => `- (weight ${weight}) ${description}`)
    return [
      'You judge an answer. Rate how well it meets the criteria below as a whole, heavier ones counting more.',
      `Criteria:\n${lines.join('\n')}`,
      `Question:\n${String(this.task.taskDesc)}`,
      `Answer:\n${answer}`,
      'Give a rating from 1 (meets none) to 10 (meets all). End with JSON and nothing behind it: {"rating": 7}',
    ].join('\n\n')
  }
}

/** A judge compares all answers to a task with each other and gives each a score from 0 to 1 (RULER). */
export class MathRulerWorkflow extends MathWorkflow {
  static override readonly doc: string = 'a judge compares all answers to a task and scores each from 0 to 1'
  static override readonly args = judgeArgs
  static override readonly reads: readonly ('prompt' | 'reward')[] = ['prompt', 'reward']
  readonly args = workflowArgs(this.task, judgeArgs)
  #scores: number[] | undefined

  override async ask(): Promise<Experience[]> {
    const experiences = await super.ask()
    const answers = experiences.map(({ responseText }, i) => `Answer ${i + 1}:\n${responseText ?? ''}`)
    const question = [
      `You compare ${experiences.length} answers to one question and give each a score from 0 (wrong or useless) to 1 (right and clear).`,
      `Question:\n${String(this.task.taskDesc)}`,
      ...(this.task.truth === undefined ? [] : [`The right answer is known:\n${String(this.task.truth)}`]),
      ...answers,
      `End with a list of ${experiences.length} numbers, in the order of the answers, and nothing behind it: [0.2, 0.9]`,
    ]
    const [verdict] = await this.auxiliary
      .chat(this.args.judge_model)
      .chat([{ role: 'user', content: question.join('\n\n') }], { n: 1 })
    const list = lastJson(verdict.responseText ?? '', '[')
    const valid =
      Array.isArray(list) && list.length === experiences.length && list.every((one) => Number.isFinite(Number(one)))
    this.#scores = valid ? list.map((one) => Math.min(1, Math.max(0, Number(one)))) : undefined
    for (const experience of experiences) experience.metrics.judge_success = valid ? 1 : 0
    if (!valid) this.logger.warn(`the judge gave no scores: ${JSON.stringify(verdict.responseText)}`)
    return experiences
  }

  override async reward(experience: Experience, signal?: AbortSignal): Promise<RewardScores | undefined> {
    const gold = await scoreResponse(this.task, experience, this.defaultReward, { signal })
    experience.metrics.gold_reward = Object.values(gold).reduce((sum, score) => sum + score, 0)
    return this.#scores && { ruler_score: this.#scores[experience.eid.run - this.context.run] }
  }
}
