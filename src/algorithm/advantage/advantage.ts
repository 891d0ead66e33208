import type { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { type Experience, uid } from '../../experience/index.js'
import type { Entry } from '../entry.js'

/** What an advantage function may look at, beyond tokens and mask. The trainer provides what is asked for. */
export type AdvantageNeed =
  | 'reward'
  | 'values'
  | 'logprobs'
  | 'teacherLogprobs'
  | 'columns.entropy'
  | 'columns.necs'
  | 'columns.reward_baseline'

/** What an advantage function may use beside its arguments. */
export interface AdvantageContext {
  /** Uniform in [0, 1), from a seeded stream. */
  readonly random: () => number
}

/** What an advantage function gives: the experiences with their advantages, and numbers about them. */
export interface AdvantageResult {
  /** In the order given, with `advantages` and `returns`; some may have been left out. */
  readonly experiences: Experience[]
  readonly metrics: Record<string, number>
}

/** `explorer`: runs as the last operator of the experience pipeline. `trainer`: on a training batch. */
export interface AdvantageFn extends Entry {
  readonly where: 'explorer' | 'trainer'
  readonly needs: readonly AdvantageNeed[]
  /** A run gives one experience for each of its steps, and nobody knows how many there will be. */
  readonly stepWise?: true
  /**
   * Decides which experiences the loss sees, so it must run whatever the loss reads. Repeating it on its own result
   * must change nothing.
   */
  readonly selects?: true
  compute(experiences: readonly Experience[], args: Record<string, unknown>, context: AdvantageContext): AdvantageResult
}

/**
 * Describes an advantage function for the registry; `compute` gets its arguments checked and with their types.
 * @example
 * import { z } from 'trinity-rft'
 * import { advantageFn, advantageFns, assign, rewardOf, spread } from 'trinity-rft/algorithm'
 *
 * advantageFns.add('plain', advantageFn({
 *   doc: 'the reward itself',
 *   where: 'explorer',
 *   needs: ['reward'],
 *   args: z.strictObject({}),
 *   compute: (experiences) => ({
 *     experiences: experiences.map((one) => assign(one, spread(one, rewardOf(one) ?? 0))),
 *     metrics: {},
 *   }),
 * }))
 */
export function advantageFn<S extends z.ZodObject>(
  fn: Omit<AdvantageFn, 'args' | 'compute'> & {
    args: S
    compute(experiences: readonly Experience[], args: z.output<S>, context: AdvantageContext): AdvantageResult
  },
): AdvantageFn {
  return fn as unknown as AdvantageFn
}

/** One number for the whole sequence, where the model acted. */
export function spread(experience: Experience, score: number): Float32Array {
  const { actionMask } = experience
  const tokens = new Float32Array(actionMask.length)
  for (let i = 0; i < tokens.length; i++) if (actionMask[i] !== 0) tokens[i] = score
  return tokens
}

/** A copy of the experience with its advantages; returns are the same numbers unless given. */
export function assign(
  experience: Experience,
  advantages: Float32Array,
  returns: Float32Array = advantages.slice(),
): Experience {
  return { ...experience, advantages, returns }
}

/** The reward of a sequence: the given one, or the sum of its token rewards; undefined where there is none. */
export function rewardOf({ reward, tokenLevelReward }: Experience): number | undefined {
  return finite(reward ?? total(tokenLevelReward))
}

/** The same in the trainer, where token rewards come first: they hold the KL penalty. */
export function trainerRewardOf({ reward, tokenLevelReward }: Experience): number | undefined {
  return finite(total(tokenLevelReward) ?? reward)
}

const total = (rewards?: Float32Array) => rewards?.reduce((sum, r) => sum + r, 0)
const finite = (value?: number) => (value !== undefined && Number.isFinite(value) ? value : undefined)

/** Keeps what has a finite reward. An absent (or NaN) reward is not zero: nothing can be learned from it. */
export function rewarded(experiences: readonly Experience[]): { kept: Experience[]; metrics: Record<string, number> } {
  const kept = experiences.filter((experience) => rewardOf(experience) !== undefined)
  const missing = experiences.length - kept.length
  return { kept, metrics: missing > 0 ? { missing_reward_count: missing } : {} }
}

/** A per-token input of the experience; an absent one is an error that says which. */
export function tokenInput(
  experience: Experience,
  need: Exclude<AdvantageNeed, 'reward' | 'columns.reward_baseline'>,
): Float32Array {
  const column = need.startsWith('columns.') ? experience.columns?.[need.slice('columns.'.length)] : undefined
  const value =
    need === 'logprobs'
      ? (experience.oldLogprobs ?? experience.logprobs)
      : need === 'values' || need === 'teacherLogprobs'
        ? experience[need]
        : column
  if (value instanceof Float32Array) return value
  throw new TrinityError('algorithm/missing-input', `experience ${uid(experience.eid)} has no ${need}`, {
    path: need,
    hint: HINTS[need],
  })
}

const HINTS: Record<string, string> = {
  values: 'the algorithm needs a critic: choose one with use_critic, such as ppo',
  logprobs: 'record log-probs at rollout, or set algorithm.bypass_old_logprobs: false',
  teacherLogprobs: 'the workflow must record the log-probs of a teacher model',
  'columns.entropy': 'set algorithm.bypass_old_logprobs: false, so that the trainer computes entropies',
  'columns.necs': "nothing in Trinity computes 'necs'; add the column with your own operator",
}
