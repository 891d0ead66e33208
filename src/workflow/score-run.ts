import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, TrinityError } from '../base/error.js'
import { linkSignals } from '../base/link-signals.js'
import type { Logger } from '../base/log/logger.js'
import type { Experience, Failure } from '../experience/index.js'
import type { RewardScores } from './reward.js'

/** How patient a reward is asked for. */
export interface ScorePatience {
  readonly attempts: number
  /** Before the second attempt; doubles from then on. */
  readonly pauseMs: number
  /** How long one call may take. */
  readonly limitMs: number
}

/** A judge that is asked too often answers again within seconds; one that has said nothing for minutes never will. */
const PATIENCE: ScorePatience = { attempts: 5, pauseMs: 500, limitMs: 300_000 }

type Score = (signal: AbortSignal) => RewardScores | undefined | Promise<RewardScores | undefined>

/**
 * Gives one answer its reward. A call that fails is made again before anything is sampled again; one that fails for
 * good costs this answer alone, which stays with its reason. What is wrong with the task as a whole is thrown.
 */
export async function scoreRun(
  experience: Experience,
  score: Score,
  { signal, logger }: { signal: AbortSignal; logger: Logger },
  patience: ScorePatience = PATIENCE,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      const scores = await limited(score, signal, patience.limitMs)
      if (!scores) return
      experience.reward = Object.values(scores).reduce((sum, one) => sum + one, 0)
      Object.assign(experience.metrics, scores)
      return
    } catch (error) {
      signal.throwIfAborted()
      const failure = failureOf(error)
      if (failure === undefined) throw error
      if (attempt >= patience.attempts || !mayPass(error)) {
        logger.error(`no reward after ${attempt} attempts: ${failure.message}`, error)
        experience.failure = failure
        return
      }
      logger.warn(`the reward failed: ${failure.message}; asking again`)
    }
    // Many that were refused at once must not come back at once.
    const pause = patience.pauseMs * 2 ** (attempt - 1) * (0.75 + Math.random() / 2)
    await sleep(pause, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/** Undefined: it concerns more than this answer. */
function failureOf(error: unknown): Failure | undefined {
  const code = error instanceof TrinityError ? error.code : 'reward/failed'
  const message = messageOf(error)
  if (code === 'reward/not-finite') return { reason: 'invalid_reward', message }
  return ['reward/failed', 'reward/empty', 'reward/timeout'].includes(code)
    ? { reason: 'reward_error', message }
    : undefined
}

/** The same answer may get a reward the next time: not where the code of the reward is wrong, or has hung. */
function mayPass(error: unknown): boolean {
  if (error instanceof TrinityError && error.code !== 'reward/failed') return false
  const thrown = error instanceof TrinityError ? error.cause : error
  // `fetch` fails with a TypeError too, and has a cause.
  if (thrown instanceof TypeError) return thrown.cause !== undefined
  return !(thrown instanceof ReferenceError || thrown instanceof RangeError || thrown instanceof SyntaxError)
}

/** A call that looks at its signal ends at the limit; one that does not is left behind. */
async function limited<T>(work: (signal: AbortSignal) => T | Promise<T>, signal: AbortSignal, ms: number): Promise<T> {
  const link = linkSignals([signal])
  const timer = setTimeout(() => link.abort(tooSlow(ms)), ms)
  try {
    return await new Promise<T>((resolve, reject) => {
      link.signal.addEventListener('abort', () => reject(link.signal.reason), { once: true })
      Promise.resolve(work(link.signal)).then(resolve, reject)
    })
  } finally {
    clearTimeout(timer)
    link.release()
  }
}

function tooSlow(ms: number): TrinityError {
  return new TrinityError('reward/timeout', `the reward took longer than ${ms / 1000} s`, {
    hint: 'end the call at the signal that it is given, or make it faster',
  })
}
