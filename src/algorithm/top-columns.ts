import type { Experience } from '../experience/index.js'

/** Tokens for which a loss finds columns; samplers may record more. */
const MOST = 20

/**
 * Columns of the likeliest tokens at each place of an answer, as the sampler recorded them (`model.logprobs`): `top_token_0`,
 * `top_logprob_0` of the likeliest, `top_token_1`, … A loss asks what the model that is trained says of the same tokens with
 * `logprobAt('top_token_0')`.
 */
export const TOP_COLUMNS: Readonly<Record<string, (experience: Experience) => Float32Array | undefined>> =
  Object.fromEntries(
    Array.from({ length: MOST }, (_, place) => [
      [`top_token_${place}`, (experience: Experience) => column(experience, 'tokens', place)],
      [`top_logprob_${place}`, (experience: Experience) => column(experience, 'logprobs', place)],
    ]).flat(),
  )

type Top = { readonly tokens: readonly number[]; readonly logprobs: readonly number[] }

function column({ info, actionMask }: Experience, what: keyof Top, place: number): Float32Array | undefined {
  const recorded = info.top_logprobs as readonly Top[] | undefined
  if (recorded?.length !== actionMask.length || recorded.some((top) => top[what].length <= place)) return undefined
  return Float32Array.from(recorded, (top) => top[what][place])
}
