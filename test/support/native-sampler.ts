import type { Call, Sample, SampleModel, SampleRequest, SampleSpec, SamplingParams } from '../../src/engine/contract.js'
import { NativeEngine } from '../../src/engine/native/engine.js'
import { fixture } from './test-data.js'

let seq = 0
export const call = (signal?: AbortSignal, deadlineMs = 600_000): Call => ({ seq: ++seq, deadlineMs, signal })

export const tiny = fixture('tiny-llama')

/** A sampler of its own engine; `close` takes both down. */
export async function openTiny(spec: Partial<SampleSpec> = {}): Promise<SampleModel> {
  return new NativeEngine().openSample({ path: tiny, seed: 1, ...spec }, call())
}

export function request(
  prompt: readonly number[],
  params: Partial<SamplingParams> = {},
  more: Partial<SampleRequest> = {},
): SampleRequest {
  return {
    prompt: Int32Array.from(prompt),
    n: 1,
    params: { temperature: 1, maxTokens: 12, ignoreEos: true, ...params },
    ...more,
  }
}

/** All that must be the same whatever happened around a request. */
export function essence(samples: readonly Sample[]) {
  return samples.map(({ tokens, logprobs, drawnLogprobs, promptLogprobs, topLogprobs, finish, stoppedBy }) => ({
    tokens: [...tokens],
    logprobs: [...logprobs],
    drawn: drawnLogprobs && [...drawnLogprobs],
    prompt: promptLogprobs && [...promptLogprobs].slice(1),
    top: topLogprobs?.map((top) => [...top.tokens, ...top.logprobs]),
    finish,
    stoppedBy,
  }))
}
