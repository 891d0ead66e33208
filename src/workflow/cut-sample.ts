import { deriveSeed } from '../base/random/derive-seed.js'
import type { Sample, SampleRequest } from '../engine/contract.js'
import { joined } from '../experience/conversation.js'

/** Whether what is left of a sample is drawn as if it had never been cut: what came before it is a prompt then. */
export function goesOnExactly({ params }: SampleRequest): boolean {
  return !params.stop?.length && !params.presencePenalty && !params.frequencyPenalty
}

/** A request that goes on behind the last token of sample `index`, which was cut off. */
export function restOf(request: SampleRequest, index: number, { tokens }: Sample): SampleRequest {
  const { prompt, params, allowed } = request
  return {
    ...request,
    n: 1,
    prompt: joined(prompt, tokens),
    promptLogprobs: false,
    params: {
      ...params,
      maxTokens: params.maxTokens - tokens.length,
      minTokens: Math.max(0, (params.minTokens ?? 0) - tokens.length),
      seed: params.seed === undefined ? undefined : deriveSeed(params.seed, index, tokens.length),
    },
    allowed: allowed && ((_, more) => allowed(index, joined(tokens, more))),
  }
}

/** The two parts of a sample as one. */
export function rejoined(begun: Sample, rest: Sample): Sample {
  const drawn = begun.drawnLogprobs ?? rest.drawnLogprobs
  return {
    tokens: joined(begun.tokens, rest.tokens),
    logprobs: floats(begun.logprobs, rest.logprobs),
    drawnLogprobs: drawn && floats(begun.drawnLogprobs ?? begun.logprobs, rest.drawnLogprobs ?? rest.logprobs),
    topLogprobs: begun.topLogprobs && [...begun.topLogprobs, ...(rest.topLogprobs ?? [])],
    promptLogprobs: begun.promptLogprobs,
    finish: rest.finish,
    stoppedBy: rest.stoppedBy,
    versions: [
      ...begun.versions,
      ...rest.versions.map(({ version, from }) => ({ version, from: from + begun.tokens.length })),
    ],
    cachedTokens: begun.cachedTokens,
  }
}

function floats(head: Float32Array, tail: Float32Array): Float32Array {
  const all = new Float32Array(head.length + tail.length)
  all.set(head)
  all.set(tail, head.length)
  return all
}
