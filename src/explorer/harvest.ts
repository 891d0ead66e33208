import { TrinityError } from '../base/error.js'
import type { Experience } from '../experience/index.js'
import { ADVANTAGE, type PipelineReport } from '../pipeline/pipeline.js'
import type { RolloutBatchResult } from './batch.js'

/** So many steps without a reward or with nothing but prompts that are too long: it is not going to change. */
const PATIENCE = 3
const MOST_REASONS = 4

const TOO_LONG = 'the prompt is too long'

/** What came of the experiences so far: whether any can be trained on, and why the others cannot. */
export class Harvest {
  readonly #reasons = new Map<string, number>()
  #steps = 0
  #seen = 0
  #usable = 0
  /** Experiences that no later step and no operator would have made better. */
  #lacking = 0

  /** A step, and what the pipeline left of it. */
  add({ tasks }: RolloutBatchResult, report: PipelineReport): void {
    this.#steps++
    let cut = 0
    for (const { task, runs } of tasks) {
      for (const experience of runs.flatMap(({ experiences }) => experiences)) {
        this.#seen++
        const why = lack(experience, task.workflow)
        if (why === undefined) continue
        this.#count(why, 1)
        if (experience.failure === undefined) this.#lacking++
        if (why === TOO_LONG) cut++
      }
    }
    for (const { name, dropped, in: before, out } of report.steps) {
      for (const [reason, count] of Object.entries(dropped)) this.#count(`${name}: ${reason}`, count)
      if (name === ADVANTAGE && out < before) this.#count(NO_ADVANTAGE, before - out)
    }
    // A prompt that was cut has a place in its group, but no token that is trained on.
    this.#usable += Math.max(0, (report.metrics['experience_pipeline/experience_count'] ?? 0) - cut)
  }

  /** Throws when nothing can be trained on; before the last step only where waiting is in vain. */
  check(isLast: boolean): void {
    if (this.#usable > 0 || this.#seen === 0) return
    const isVain = this.#steps >= PATIENCE && this.#lacking === this.#seen
    if (!isLast && !isVain) return
    const why = [...this.#reasons].sort(([, a], [, b]) => b - a).slice(0, MOST_REASONS)
    const list = why.map(([reason, count]) => `${reason} (${count})`).join(', ')
    const text = `nothing can be trained on in the ${this.#seen} experiences of ${this.#steps} steps: ${list || 'the operators left none'}`
    throw new TrinityError('explorer/nothing-usable', text, { path: 'buffer.explorer_input', hint: this.#hint() })
  }

  #hint(): string {
    if (this.#reasons.has(TOO_LONG))
      return 'raise model.max_prompt_tokens (and model.max_model_len), or shorten the prompts'
    const isSilent = [...this.#reasons.keys()].some((reason) => reason.endsWith(NO_REWARD))
    if (isSilent) return 'set experience.reward in the workflow, or give it a reward function (default_reward_fn_type)'
    if (this.#reasons.has(NO_ADVANTAGE))
      return 'give tasks whose runs differ in reward, or set algorithm.advantage_fn_args.std_threshold: null'
    return 'loosen the operators of data_processor.experience_pipeline, or give tasks whose runs differ in reward'
  }

  #count(reason: string, count: number): void {
    this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + count)
  }
}

const NO_ADVANTAGE = 'left out by the advantage function'
const NO_REWARD = 'gave no reward'

function lack({ failure, truncateStatus, reward, tokenLevelReward }: Experience, workflow: string): string | undefined {
  if (failure) return failure.reason === 'invalid_reward' ? failure.message : failure.reason.replaceAll('_', ' ')
  if (truncateStatus === 'prompt_truncated') return TOO_LONG
  return reward === undefined && tokenLevelReward === undefined ? `workflow '${workflow}' ${NO_REWARD}` : undefined
}
