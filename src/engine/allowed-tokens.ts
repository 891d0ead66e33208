import { TrinityError } from '../base/error.js'
import type { AllowedTokens } from './contract.js'

/** Words of a mask over a vocabulary. */
export function maskWords(vocabSize: number): number {
  return Math.ceil(vocabSize / 32)
}

/** The same, with every mask looked at before it is used. */
export function checkedMasks(allowed: AllowedTokens, vocabSize: number): AllowedTokens {
  const words = maskWords(vocabSize)
  return (index, tokens) => {
    const mask = allowed(index, tokens)
    if (mask === undefined || (mask instanceof Uint32Array && mask.length === words)) return mask
    throw new TrinityError('engine/bad-mask', `a mask of ${mask.length} words came for ${vocabSize} tokens`, {
      path: 'allowed',
      hint: `return undefined, or a Uint32Array of ${words} words with a bit for every token`,
    })
  }
}

/** Every token is banned, masked or out of reach at once. */
export function nothingToDraw(made: number): TrinityError {
  return new TrinityError('engine/no-token', `no token may follow the ${made} tokens of the answer`, {
    hint: 'allow at least one, for example an end token; minTokens keeps end tokens away',
  })
}
