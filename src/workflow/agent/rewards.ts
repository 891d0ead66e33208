import { inspect } from 'node:util'
import { TrinityError } from '../../base/error.js'
import { isJsonObject } from '../../base/file/json-file.js'
import type { Experience } from '../../experience/index.js'
import type { RolloutModel } from '../rollout-model.js'

/**
 * What an agent returns: one number (or true and false) for all it did, named parts of which the reward is the sum, or a
 * number for each answer of the model, in their order.
 */
export type AgentReward = number | boolean | Readonly<Record<string, number>> | readonly number[]

/** What the model said in a rollout, with what the agent says it was worth. */
export function rewarded(reward: unknown, model: RolloutModel, name: string): Experience[] {
  if (Array.isArray(reward)) return byAnswer(reward, model, name)
  const experiences = model.toExperiences({ hidden: true })
  if (experiences.length === 0) throw noCall(name, model.stats.calls)
  const parts = partsOf(reward, name)
  for (const [step, experience] of experiences.entries()) {
    experience.eid.step = step
    experience.reward = Object.values(parts).reduce((sum, part) => sum + part, 0)
    if (typeof reward === 'object') Object.assign(experience.metrics, parts)
  }
  return experiences
}

function byAnswer(rewards: readonly unknown[], model: RolloutModel, name: string): Experience[] {
  const answers = model.takeHistory()
  if (answers.length === 0) throw noCall(name, model.stats.calls)
  if (rewards.length !== answers.length) {
    throw new TrinityError(
      'agent/rewards',
      `agent '${name}' gave ${rewards.length} rewards for ${answers.length} answers of the model`,
      { hint: 'give one for each answer, in their order, or one number for all' },
    )
  }
  return answers.map((experience, step) => {
    experience.eid.step = step
    experience.reward = numberOf(rewards[step], name)
    return experience
  })
}

function partsOf(reward: unknown, name: string): Record<string, number> {
  if (!isJsonObject(reward) || Object.keys(reward).length === 0) return { reward: numberOf(reward, name) }
  return Object.fromEntries(Object.entries(reward).map(([part, value]) => [part, numberOf(value, name)]))
}

const REWARD =
  'a number, true or false, an object of named numbers, or a list with a number for each answer of the model'

/** Numbers that are none (NaN) are called so where all rewards are looked at. */
function numberOf(value: unknown, name: string): number {
  if (typeof value === 'number') return value
  if (typeof value === 'boolean') return value ? 1 : 0
  const what = value === undefined ? 'no reward' : `${inspect(value, { depth: 1, breakLength: 120 })} as its reward`
  // the message alone is what a failed rollout keeps
  throw new TrinityError('agent/no-reward', `agent '${name}' returned ${what}; a reward is ${REWARD}`)
}

function noCall(name: string, calls: number): TrinityError {
  if (calls > 0) {
    return new TrinityError('agent/no-answer', `agent '${name}' did not wait for an answer of the model`, {
      hint: 'await the call before the function returns',
    })
  }
  return new TrinityError('agent/no-call', `agent '${name}' did not call the model`, {
    hint: 'give its client baseURL and apiKey of the rollout, or make the client inside the function, without arguments',
  })
}
