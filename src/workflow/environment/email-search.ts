import { answerIn } from '../../environment/email/index.js'
import type { Experience } from '../../experience/index.js'
import { type EmailReward, type EmailRubric, emailReward, NO_ANSWER } from '../../reward/email-answer.js'
import { auxiliaryName } from '../workflow-args.js'
import { StepWiseEnvironmentWorkflow } from './step-wise.js'

export const emailJudgeArgs = {
  judge_model: auxiliaryName
    .default(0)
    .describe('Auxiliary model that judges: its name or its place in explorer.auxiliary_models.'),
}

const JUDGE = `You decide whether an answer to a question is right. You are given the question, a reference answer that is known to be right, and the answer of an assistant.

First find what exactly the question asks for. Of the reference answer only the facts count that the question asks for. The assistant's answer is right if it has all of them with the same meaning, in whatever words, and contradicts none; further facts do no harm, and facts that nobody asked for may be missing.

Reply with one word: true if it is right, false if not.`

/** A search in a mailbox whose answer is judged by an auxiliary model, or by its words where there is none. */
export class EmailSearchWorkflow extends StepWiseEnvironmentWorkflow {
  override async run(): Promise<Experience[]> {
    const all = await super.run()
    const judged = await this.#judged()
    for (const experience of all) {
      Object.assign(experience.metrics, judged.metrics, judged.reward, { actual_turns: all.length })
      if (judged.reward) experience.reward = judged.reward.accuracy + judged.reward.format
      else delete experience.reward
    }
    return all
  }

  /** No reward: the judge gave no verdict. */
  async #judged(): Promise<{ reward?: EmailReward; metrics?: Record<string, number> }> {
    const { turn } = await this.episode()
    const { action, transition } = turn.past.at(-1) ?? {}
    const given = transition?.done ? answerIn(action) : undefined
    if (given === undefined) return { reward: NO_ANSWER }
    const rubric = Object.fromEntries(
      Object.entries(transition?.metrics ?? {}).map(([name, value]) => [name.replace(':last', ''), value]),
    )
    if (this.task.rewardFnArgs.llm_as_a_judge === false || this.auxiliary.names.length === 0) {
      return { reward: { accuracy: rubric.answer_correct, format: 0 } }
    }
    const verdict = await this.#verdict(given.answer)
    const metrics = { judge_success: verdict === undefined ? 0 : 1 }
    if (verdict === undefined) return { metrics }
    const { unknown_is_wrong } = this.task.workflowArgs as { unknown_is_wrong?: boolean }
    const known = { ...(rubric as unknown as EmailRubric), answer_correct: verdict, num_turns: turn.step }
    return { reward: emailReward(known, turn.maxSteps, unknown_is_wrong), metrics }
  }

  async #verdict(answer: string): Promise<boolean | undefined> {
    const { judge_model = 0 } = this.task.workflowArgs as { judge_model?: string | number }
    const { raw, taskDesc, truth } = this.task
    const question = `Question: ${raw.question ?? taskDesc}\nReference answer: ${raw.answer ?? truth}\nAI answer: ${answer}`
    const messages = [
      { role: 'system', content: JUDGE },
      { role: 'user', content: question },
    ]
    const [{ responseText = '' }] = await this.auxiliary.chat(judge_model).chat(messages, { n: 1 })
    const said = responseText
      .toLowerCase()
      .match(/\b(?:true|false)\b/g)
      ?.at(-1)
    if (said === undefined) this.logger.warn(`the judge gave no verdict: ${JSON.stringify(responseText)}`)
    return said === undefined ? undefined : said === 'true'
  }
}
