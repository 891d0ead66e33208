import type { Experience, Failure } from '../experience/index.js'

/** What is wrong with the rewards of a run; undefined: nothing. That there is none is not wrong: some algorithms want none. */
export function invalidReward(experiences: readonly Experience[], workflow: string): Failure | undefined {
  for (const { reward, tokenLevelReward } of experiences) {
    const given: unknown = reward
    if (given !== undefined && !Number.isFinite(given)) {
      return { reason: 'invalid_reward', message: `workflow '${workflow}' gave the reward ${shown(given)}` }
    }
    const token = tokenLevelReward?.find((value) => !Number.isFinite(value))
    if (token !== undefined) {
      return { reason: 'invalid_reward', message: `workflow '${workflow}' gave a token the reward ${token}` }
    }
  }
  return undefined
}

/** A run whose reward says nothing keeps what was sampled, and the reason why it is not trained on. */
export function markFailed(experiences: readonly Experience[], failure: Failure): void {
  for (const experience of experiences) {
    experience.failure = failure
    experience.reward = undefined
    experience.tokenLevelReward = undefined
  }
}

const MOST_LETTERS = 40

function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value.length > MOST_LETTERS ? `${value.slice(0, MOST_LETTERS)}…` : value}'`
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  return String(value)
}
