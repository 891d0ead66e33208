import type { Answered } from '../../dialect/chat-model.js'
import type { Episode } from '../../environment/index.js'
import { combine } from '../../monitor/combine.js'
import type { Metrics } from '../../monitor/monitor.js'
import { episodeMetrics } from '../environment/run.js'
import type { RolloutModel } from '../rollout-model.js'
import type { StudyWorld } from './study-world.js'

/** An episode that a model played. */
export interface Rollout {
  readonly episode: Episode
  /** One for each step. Those of a retry begin with the ones that it took over. */
  readonly answers: readonly Answered[]
  /** Whose conversation it is. */
  readonly model: RolloutModel
}

/** Numbers about it, under the names of the study. */
export function rolloutMetrics({ episode }: Rollout, { unit }: StudyWorld): Metrics {
  const { past, step } = episode.turn
  return {
    ...combine(past.map(({ transition }) => transition.metrics ?? {})),
    ...episodeMetrics(episode),
    actual_env_steps: step,
    [unit]: step,
    // right at once: what is called accuracy elsewhere, however many attempts there are
    ...(unit === 'attempts' && { accuracy: episode.won && step === 1 ? 1 : 0 }),
    reward: episode.score,
  }
}

/** Numbers about a second attempt, beside the first. */
export function retryMetrics(first: Rollout, second: Rollout, pivot: number, { unit }: StudyWorld): Metrics {
  const [r1, r2] = [first.episode.score, second.episode.score]
  return {
    second_success: second.episode.won ? 1 : 0,
    [`second_${unit}`]: second.episode.turn.step,
    second_reward: r2,
    second_improve: r2 > r1 ? 1 : 0,
    second_reward_diff: r2 - r1,
    pivot_point: pivot,
  }
}
