import { messageOf, TrinityError } from '../base/error.js'
import { type Experience, responseLength } from '../experience/index.js'
import {
  prepareReward,
  type RewardFn,
  type RewardInput,
  type RewardParts,
  rewardFns,
  type Scorer,
} from '../reward/index.js'
import type { Task } from '../task/index.js'

/** Named parts of a reward; the reward is their sum. */
export type RewardScores = RewardParts

const NO_ARGS = {}
/** Reward functions with their arguments checked, by the arguments of the task set: its tasks share them. */
const scorers = new WeakMap<object, Map<RewardFn, Scorer>>()

function scorerOf(name: string, args: Record<string, unknown> = NO_ARGS): Scorer {
  const fn = rewardFns.get(name)
  const known = scorers.get(args) ?? new Map<RewardFn, Scorer>()
  scorers.set(args, known)
  const scorer = known.get(fn) ?? prepareReward(name, args)
  known.set(fn, scorer)
  return scorer
}

/** What the task's reward function says of a response. */
export async function scoreResponse(
  task: Task,
  experience: Experience,
  defaultReward?: string,
  options: Pick<RewardInput, 'withThink' | 'formatScoreCoef' | 'signal'> = {},
): Promise<RewardScores> {
  const name = task.rewardFn ?? defaultReward
  if (name === undefined) {
    throw new TrinityError('reward/none', `workflow '${task.workflow}' needs a reward function`, {
      path: 'default_reward_fn_type',
      hint: 'set default_reward_fn_type of the task set, or of buffer.explorer_input',
    })
  }
  const score = scorerOf(name, task.rewardFnArgs)
  const input: RewardInput = {
    response: experience.responseText ?? '',
    truth: task.truth,
    prompt: experience.promptText,
    responseTokens: experience.tokens.subarray(experience.tokens.length - responseLength(experience)),
    truncated: experience.truncateStatus === 'response_truncated',
    raw: task.raw,
    ...options,
  }
  try {
    return (await score(input)).parts
  } catch (cause) {
    if (cause instanceof TrinityError) throw cause
    throw new TrinityError('reward/failed', `reward function '${name}' failed: ${messageOf(cause)}`, {
      path: name,
      cause,
    })
  }
}
