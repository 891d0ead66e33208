import { messageOf, TrinityError } from '../base/error.js'
import type { SavedWeights } from '../checkpoint/index.js'
import type { InFlight } from '../engine/contract.js'

export interface WeightSource {
  latest(): Promise<SavedWeights | undefined>
  load(weights: SavedWeights, inFlight: InFlight, signal: AbortSignal): Promise<void>
}

/** Weights that vanish while they are read, one after the other, are not a slow reader any more. */
const MOST_TRIES = 10

/**
 * Loads the newest weights if they are newer than `have`; gives their step. A trainer at work deletes what is no longer
 * among the newest, even under the hands of a slow reader: then the newer ones that are in its place are loaded instead.
 */
export async function takeLatest(
  { latest, load }: WeightSource,
  have: number,
  inFlight: InFlight,
  signal: AbortSignal,
): Promise<number | undefined> {
  let failed: { step: number; error: unknown } | undefined
  for (let tries = 1; ; tries++) {
    const weights = await latest()
    if (!weights || weights.step <= have) {
      if (failed) throw unreadable(failed.step, failed.error)
      return undefined
    }
    try {
      await load(weights, inFlight, signal)
      return weights.step
    } catch (error) {
      signal.throwIfAborted()
      // Weights that stay where they are and cannot be read twice are broken.
      if (failed?.step === weights.step || tries === MOST_TRIES) throw unreadable(weights.step, error, weights.path)
      failed = { step: weights.step, error }
    }
  }
}

function unreadable(step: number, cause: unknown, path?: string): TrinityError {
  const message = `the weights of training step ${step} cannot be loaded: ${messageOf(cause)}`
  return new TrinityError('sync/load', message, { path, cause })
}
