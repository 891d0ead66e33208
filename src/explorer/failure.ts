import { messageOf, TrinityError } from '../base/error.js'
import { createExperience, type Eid, type Experience, type Failure, type FailureReason } from '../experience/index.js'
import { pluginPlace } from '../plugin/index.js'

/** Aborts an attempt that took too long. */
export class RolloutTimeout extends TrinityError {
  constructor(seconds: number) {
    super('explorer/timeout', `the rollout took longer than ${Number(seconds.toFixed(3))} s`, {
      path: 'explorer.max_timeout',
      hint: 'raise explorer.max_timeout, or let the workflow take fewer or shorter turns',
    })
  }
}

/** Aborts what is not wanted any more. */
export class RolloutCancelled extends TrinityError {
  constructor(why: string) {
    super('explorer/cancelled', why)
  }
}

/** Why an attempt failed. The code of the error says where it comes from; what a user's code throws is the workflow's. */
export function failureOf(error: unknown, signal: AbortSignal): Failure {
  // Whatever the workflow made of it: once its signal has fired, that is the cause.
  const cause = signal.aborted ? signal.reason : error
  return { reason: reasonOf(cause), message: messageOf(cause) + placeOf(cause) }
}

/** The line of a plugin that threw it. */
export function placeOf(error: unknown): string {
  const place = pluginPlace(error)
  return place === undefined ? '' : ` (${place})`
}

const BY_AREA: Record<string, FailureReason> = {
  engine: 'engine_error',
  reward: 'reward_error',
  environment: 'environment_error',
}

function reasonOf(error: unknown): FailureReason {
  if (error instanceof RolloutTimeout) return 'timeout'
  if (error instanceof RolloutCancelled || (error as Error | undefined)?.name === 'AbortError') return 'cancelled'
  if (!(error instanceof TrinityError)) return 'workflow_error'
  if (error.code === 'workflow/prompt-too-long') return 'prompt_too_long'
  if (error.code === 'workflow/no-experience') return 'no_response'
  return BY_AREA[error.code.split('/')[0]] ?? 'workflow_error'
}

const HOPELESS = new Set([
  'explorer/isolation',
  'workflow/not-plain',
  'plugin/failed',
  'args/invalid',
  'workflow/prompt-too-long',
  'workflow/auxiliary',
  ...['not-found', 'unauthorized', 'refused'].map((why) => `engine/openai/${why}`),
  'workflow/args',
  'workflow/history',
  'registry/unknown',
  'chat/missing',
  'template/limit',
  'reward/none',
  'reward/no-truth',
  'environment/row',
  'environment/setup',
  'environment/unsupported',
  'environment/python',
  'environment/python-package',
  'task/column',
])

/** Trying again cannot help: the same input gives the same failure. */
export function isHopeless(error: unknown): boolean {
  if (!(error instanceof TrinityError)) return false
  return HOPELESS.has(error.code)
}

/** A failed run stays data: it has a reason, and no reward that somebody made up. */
export function failedExperience(eid: Partial<Eid>, failure: Failure, info: Record<string, unknown>): Experience {
  return createExperience({ type: 'single_turn', eid, tokens: [], promptLength: 0, failure, info })
}
