import { TrinityError } from '../../base/error.js'
import type { CheckedRequest } from '../checked-request.js'
import type { Caps } from '../contract.js'

/**
 * Refuses what a server cannot tell log-probs of as they are defined here: of the model at the temperature, before
 * truncation. Before the temperature they are the same at temperature 1, after truncation where nothing is cut.
 */
export function needExact(given: Caps['logprobs'], wish: CheckedRequest, path: string): void {
  if (given === 'raw' && !wish.greedy && wish.invT !== 1) {
    throw inexact('before the temperature', 'use temperature 1', '--logprobs-mode processed_logprobs', path)
  }
  if (given === 'processed' && wish.reshaped) {
    throw inexact('after truncation and penalties', 'use neither', '--logprobs-mode raw_logprobs', path)
  }
}

function inexact(what: string, use: string, flag: string, path: string): TrinityError {
  return new TrinityError('engine/logprobs', `the server tells log-probs from ${what}: training would go wrong`, {
    path,
    hint: `let Trinity start the server (no base_url), ${use}, or start it with ${flag}`,
  })
}
