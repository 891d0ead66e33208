import { z } from 'zod'
import { badAnswer } from './failure.js'
import type { TinkerSession } from './session.js'
import { decodeSample, type SampleAnswer } from './wire/sample.js'

/** Weights that are sampled from: saved ones by their address, or a model of the service as it is. */
export type Weights = { readonly path: string } | { readonly baseModel: string }

export interface SampleAsked {
  readonly prompt: Int32Array
  readonly n: number
  readonly maxTokens: number
  readonly temperature: number
  readonly topK?: number
  readonly topP?: number
  readonly seed?: number
  readonly stopTokens?: readonly number[]
  readonly promptLogprobs?: boolean
}

const opened = z.object({ sampling_session_id: z.string().min(1) })

/** Samples from weights that do not change. */
export class SamplingSession {
  readonly weights: Weights
  readonly #session: TinkerSession
  readonly #id: string
  #seq = 0

  private constructor(session: TinkerSession, id: string, weights: Weights) {
    this.#session = session
    this.#id = id
    this.weights = weights
  }

  static async open(session: TinkerSession, weights: Weights, signal: AbortSignal): Promise<SamplingSession> {
    const body = {
      session_id: session.id,
      sampling_session_seq_id: session.nextSampler(),
      ...('path' in weights ? { model_path: weights.path } : { base_model: weights.baseModel }),
      type: 'create_sampling_session',
    }
    const { sampling_session_id } = await session.ask('POST', 'create_sampling_session', body, opened, { signal })
    return new SamplingSession(session, sampling_session_id, weights)
  }

  async sample(asked: SampleAsked, signal: AbortSignal): Promise<SampleAnswer> {
    const { prompt, n, stopTokens = [], promptLogprobs = false } = asked
    const body = {
      sampling_session_id: this.#id,
      seq_id: this.#seq++,
      num_samples: n,
      prompt: { chunks: [{ type: 'encoded_text', tokens: [...prompt] }] },
      sampling_params: {
        max_tokens: asked.maxTokens,
        temperature: asked.temperature,
        top_k: asked.topK ?? -1,
        top_p: asked.topP ?? 1,
        ...(asked.seed !== undefined && { seed: asked.seed }),
        ...(stopTokens.length > 0 && { stop: stopTokens }),
      },
      prompt_logprobs: promptLogprobs,
      topk_prompt_logprobs: 0,
      type: 'sample',
    }
    const headers = { 'x-tinker-sampling-backpressure': '1' }
    const { bytes } = await (await this.#session.submit('asample', 'Sample', body, { signal, headers })).result(signal)
    if (!bytes) throw badAnswer('samples are not in protobuf')
    return checked(decodeSample(bytes), asked)
  }
}

function checked(answer: SampleAnswer, { n, maxTokens, prompt, promptLogprobs }: SampleAsked): SampleAnswer {
  const { sequences, promptLogprobs: given } = answer
  if (sequences.length !== n) throw badAnswer(`${sequences.length} samples where ${n} were asked for`)
  for (const { tokens, logprobs } of sequences) {
    if (tokens.length > maxTokens)
      throw badAnswer(`a sample of ${tokens.length} tokens, at most ${maxTokens} were asked for`)
    if (logprobs && logprobs.length !== tokens.length)
      throw badAnswer(`${logprobs.length} log-probs of a sample of ${tokens.length} tokens`)
  }
  if (!promptLogprobs) return answer
  // nothing predicts the first token: some services leave its place out
  const missing = prompt.length - (given?.length ?? 0)
  if (!given || missing < 0 || missing > 1)
    throw badAnswer(`${given?.length ?? 'no'} log-probs of a prompt of ${prompt.length} tokens`)
  const all = new Float32Array(prompt.length).fill(Number.NaN)
  all.set(given, missing)
  return { ...answer, promptLogprobs: all }
}
