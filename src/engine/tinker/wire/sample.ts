import { floatsOf, int32sOf } from './numbers.js'
import { protoFields } from './proto.js'

export interface SampledSequence {
  readonly tokens: Int32Array
  /** Absent where the service gives none. */
  readonly logprobs?: Float32Array
  readonly stop: 'stop' | 'length'
}

export interface SampleAnswer {
  readonly sequences: readonly SampledSequence[]
  /** Entry `i` belongs to prompt token `i`; NaN: there is none. */
  readonly promptLogprobs?: Float32Array
  readonly cachedTokens: number
}

const NONE: Int32Array = new Int32Array(0)

/** The message SampleResponse. */
export function decodeSample(bytes: Uint8Array): SampleAnswer {
  const sequences: SampledSequence[] = []
  let promptLogprobs: Float32Array | undefined
  let cachedTokens = 0
  for (const { field, number, bytes: value } of protoFields(bytes)) {
    if (field === 1) sequences.push(sequenceOf(value))
    else if (field === 2) promptLogprobs = floatsOf(value)
    else if (field === 4) cachedTokens = number
  }
  return { sequences, promptLogprobs, cachedTokens }
}

function sequenceOf(bytes: Uint8Array): SampledSequence {
  let tokens = NONE
  let logprobs: Float32Array | undefined
  let stop: SampledSequence['stop'] = 'stop'
  for (const { field, number, bytes: value } of protoFields(bytes)) {
    if (field === 1) stop = number === 1 ? 'length' : 'stop'
    else if (field === 2) tokens = int32sOf(value)
    else if (field === 3) logprobs = floatsOf(value)
  }
  return { tokens, logprobs, stop }
}
