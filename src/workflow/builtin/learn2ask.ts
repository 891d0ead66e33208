import { z } from 'zod'
import type { Experience } from '../../experience/index.js'
import type { RewardScores } from '../reward.js'
import { SimpleWorkflow } from '../simple.js'
import { auxiliaryName, workflowArgs } from '../workflow-args.js'
import { ASK_ONLY, ASK_OR_STOP, judgeOfQuestions } from './prompts.js'

const askArgs = z.strictObject({
  train_mode: z
    .enum(['Ra+Rs', 'Ra', 'Rs'])
    .default('Ra+Rs')
    .describe('What is trained: asking well and stopping in time, or one of them.'),
  fusion_mode: z
    .enum(['default', 'sum'])
    .default('default')
    .describe('How the scores become one: the question counts where the decision was right, or all are added.'),
  judge_model: auxiliaryName
    .default(0)
    .describe('Auxiliary model that judges: its name or its place in explorer.auxiliary_models.'),
})
type Args = z.output<typeof askArgs>

interface Scores {
  /** The decision to go on or to stop was right. */
  readonly action: number
  /** How good the question is. */
  readonly content: number
  readonly format: number
}

const STOP = '<stop />'

/**
 * Learning to ask: in a conversation with a patient the next thing is a question, or the end of asking. The row knows
 * which of them (`decision_truth`) and what is left to find out (`info_truth`); a judge rates the question.
 */
export class Learn2AskWorkflow extends SimpleWorkflow {
  static override readonly doc: string =
    'the next question of a doctor, or the end of asking; a judge rates the question'
  static override readonly args = askArgs
  static override readonly reads: readonly ('prompt' | 'reward')[] = ['prompt']
  readonly args = workflowArgs(this.task, askArgs)

  override get defaultSystemPrompt(): string {
    return this.args.train_mode === 'Ra' ? ASK_ONLY : ASK_OR_STOP
  }

  override async reward(experience: Experience): Promise<RewardScores | undefined> {
    const scores = await this.#scores(experience)
    if (scores === undefined) return undefined
    const { action, content, format } = scores
    Object.assign(experience.metrics, { action_score: action, content_score: content, format_score: format })
    return { learn2ask: fused(scores, this.args) }
  }

  async #scores(experience: Experience): Promise<Scores | undefined> {
    const { responseText: reply = '', metrics } = experience
    const isStop = reply.includes(STOP)
    if (isStop !== (this.task.raw.decision_truth === 'stop')) return { action: 0, content: 0, format: 0 }
    if (isStop) return { action: 1, content: 1, format: reply.trim() === STOP ? 1 : 0 }
    const verdict = await this.#verdict(reply)
    const [format, content] = [tagged(verdict, 'format_score'), tagged(verdict, 'content_score')]
    const isValid = format !== undefined && content !== undefined
    metrics.judge_success = isValid ? 1 : 0
    if (!isValid) this.logger.warn(`the judge gave no scores: ${JSON.stringify(verdict)}`)
    return isValid ? { action: 1, content, format } : undefined
  }

  async #verdict(reply: string): Promise<string> {
    const speakers: Readonly<Record<string, string>> = { user: 'patient', assistant: 'doctor' }
    const said = [...this.messages(), { role: 'assistant', content: reply }].flatMap(({ role, content }) =>
      role in speakers ? [`${speakers[role]}: ${content}`] : [],
    )
    const messages = [
      { role: 'system', content: judgeOfQuestions(String(this.task.raw.info_truth ?? 'None')) },
      { role: 'user', content: said.join('\n') },
    ]
    const [{ responseText = '' }] = await this.auxiliary.chat(this.args.judge_model).chat(messages, { n: 1 })
    return responseText
  }
}

function fused({ action, content, format }: Scores, { train_mode, fusion_mode }: Args): number {
  if (train_mode === 'Ra') return 2 * content + format
  if (train_mode === 'Rs') return 3 * action + format
  return fusion_mode === 'sum' ? action + content + format : action * (1 + 2 * content) + format
}

/** The number from 0 to 1 in the last `<tag>…</tag>`. */
function tagged(text: string, tag: string): number | undefined {
  const found = [...text.matchAll(new RegExp(`<${tag}>\\s*([\\d.]{1,8})\\s*</${tag}>`, 'g'))].at(-1)
  const score = Number(found?.[1])
  return score >= 0 && score <= 1 ? score : undefined
}
