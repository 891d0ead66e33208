import { z } from 'zod'
import type { Experience } from '../../experience/index.js'
import { type RewardScores, scoreResponse } from '../reward.js'
import { auxiliaryName, noArgs, workflowArgs } from '../workflow-args.js'
import { MathWorkflow } from './math.js'
import { scoresIn } from './verdict.js'

const judgeArgs = z.strictObject({
  judge_model: auxiliaryName
    .default(0)
    .describe('Auxiliary model that judges: its name or its place in explorer.auxiliary_models.'),
})

/** Asks for a score of each answer. `truth`: the right answer, where the judge may know it. */
function rulerQuestion(task: unknown, answers: readonly Experience[], truth?: unknown): string {
  return [
    `You compare ${answers.length} answers to one question and give each a score from 0 (wrong or useless) to 1 (right and clear).`,
    `Question:\n${String(task)}`,
    ...(truth === undefined ? [] : [`The right answer is known:\n${String(truth)}`]),
    ...answers.map(({ responseText }, i) => `Answer ${i + 1}:\n${responseText ?? ''}`),
    `End with a list of ${answers.length} numbers, in the order of the answers, and nothing behind it: [0.2, 0.9]`,
  ].join('\n\n')
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
    const question = rulerQuestion(this.task.taskDesc, experiences, this.task.truth)
    const [{ responseText = '' }] = await this.auxiliary
      .chat(this.args.judge_model)
      .chat([{ role: 'user', content: question }], { n: 1 })
    this.#scores = scoresIn(responseText, experiences.length)
    for (const { metrics } of experiences) metrics.judge_success = this.#scores ? 1 : 0
    if (!this.#scores) this.logger.warn(`the judge gave no scores: ${JSON.stringify(responseText)}`)
    return experiences
  }

  override async reward(experience: Experience, signal?: AbortSignal): Promise<RewardScores | undefined> {
    const gold = await scoreResponse(this.task, experience, this.defaultReward, { signal })
    experience.metrics.gold_reward = Object.values(gold).reduce((sum, score) => sum + score, 0)
    return this.#scores && { ruler_score: this.#scores[experience.eid.run - this.context.run] }
  }
}

/** How often the right answer may be looked at. */
const GOLD_PROBABILITY = 0.2

/**
 * The policy judges its own answers, and learns to judge: for a fifth of the tasks the right answer counts, and what the
 * policy says of the answers is rewarded by how near it comes to the truth; for the others its own scores are the
 * rewards. Evaluation looks at the right answer alone.
 */
export class MathTrainableRulerWorkflow extends MathWorkflow {
  static override readonly doc: string =
    'the policy scores its own answers, and is trained to do so by a fifth of the tasks'
  static override readonly args = noArgs
  static override readonly reads: readonly ('prompt' | 'reward')[] = ['prompt', 'reward']

  override async run(): Promise<Experience[]> {
    const answers = await super.run()
    const scored = answers.filter(
      ({ reward, truncateStatus }) => reward !== undefined && truncateStatus !== 'prompt_truncated',
    )
    for (const { metrics, reward = 0 } of scored) metrics.gold_reward = reward
    if (this.task.isEval || scored.length === 0) return answers
    const isGold = this.random.random() < GOLD_PROBABILITY
    const messages = [{ role: 'user', content: rulerQuestion(this.task.taskDesc, scored) }]
    const verdicts = await this.model.chat(messages, { n: isGold ? scored.length : 1 })
    const scores = verdicts.map(({ responseText = '' }) => scoresIn(responseText, scored.length))
    const success = scores.filter((one) => one !== undefined).length / verdicts.length
    for (const { metrics } of scored) metrics.judge_success = success
    if (isGold) return [...answers, ...this.#judges(verdicts, scores, scored)]
    for (const [i, answer] of scored.entries()) {
      if (scores[0]) answer.reward = scores[0][i]
      else delete answer.reward
    }
    return answers
  }

  /** The verdicts as experiences, in a group of their own: 1 less the mean error. One without scores earns nothing. */
  #judges(verdicts: Experience[], scores: (number[] | undefined)[], answers: readonly Experience[]): Experience[] {
    // From −0.1 … 1.1, which math_reward gives, to 0 … 1.
    const gold = answers.map(({ reward = 0 }) => (reward + 0.1) / 1.2)
    for (const [i, verdict] of verdicts.entries()) {
      const errors = scores[i]?.map((score, k) => Math.abs(score - gold[k]))
      verdict.reward = errors ? 1 - errors.reduce((sum, error) => sum + error, 0) / errors.length : 0
      verdict.eid.task = `${this.task.taskId ?? 0}-ruler`
      verdict.eid.run = this.context.run + i
      Object.assign(verdict.metrics, { judge_success: errors ? 1 : 0, reward_for_judger: verdict.reward })
    }
    return verdicts.filter(({ truncateStatus }) => truncateStatus !== 'prompt_truncated')
  }
}
