import type { ServedRequest, ServedSample } from '../served/server-api.js'
import type { Answer } from './wire.js'

/** A sample out of the answer to one request. */
export function sampleOf(request: ServedRequest, { output_ids: ids, meta_info: about }: Answer): ServedSample {
  const { wish, promptLogprobs } = request
  const { finish_reason: end, output_token_logprobs: told, weight_versions: versions } = about
  const finish = end?.type === 'stop' || end?.type === 'length' ? end.type : 'abort'
  // an end token is one of the stop tokens for the server, and no reason to tell for us
  const { matched } = end ?? {}
  const stoppedBy = typeof matched === 'number' && !wish.stopIds.has(matched) ? undefined : (matched ?? undefined)
  return {
    tokens: Int32Array.from(ids),
    logprobs: Float32Array.from(ids, (_, i) => told?.[i]?.[0] ?? Number.NaN),
    ...(wish.top > 0 && {
      topLogprobs: ids.map((_, i) => {
        const likeliest = about.output_top_logprobs?.[i] ?? []
        return {
          tokens: Int32Array.from(likeliest, ([, token]) => token),
          logprobs: Float32Array.from(likeliest, ([logprob]) => logprob ?? Number.NaN),
        }
      }),
    }),
    ...(promptLogprobs && { promptLogprobs: promptScores(about) }),
    finish,
    ...(stoppedBy !== undefined && finish === 'stop' && { stoppedBy }),
    versions: ids.length === 0 ? [] : (versions ?? []).map(({ version, start }) => ({ version, from: start })),
    cachedTokens: about.cached_tokens ?? 0,
  }
}

/** Of all tokens of a prompt; the first is predicted by nothing. */
export function promptScores({ input_token_logprobs: told }: Answer['meta_info']): Float32Array {
  return Float32Array.from(told ?? [], ([logprob]) => logprob ?? Number.NaN)
}
