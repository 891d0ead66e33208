import { TrinityError } from '../../base/error.js'
import type {
  Call,
  MemoryReport,
  ModelInfo,
  OnToken,
  Sample,
  SampleModel,
  SampleRequest,
  SamplerStats,
} from '../contract.js'
import { answerOf, sampleOf } from './answer.js'
import { requestBody } from './body.js'
import type { ChatEndpoint } from './endpoint.js'
import { StreamedAnswers } from './streamed.js'
import type { HostedText } from './text.js'

/** A hosted model: it gets the messages behind a prompt, and what it says is recorded byte by byte. */
export class HostedSampler implements SampleModel {
  readonly info: ModelInfo
  readonly version = 0
  readonly home = this
  readonly #endpoint: ChatEndpoint
  readonly #text: HostedText
  readonly #extra: Readonly<Record<string, unknown>>
  #running = 0

  /** `extra`: fields of every request. */
  constructor(endpoint: ChatEndpoint, text: HostedText, extra: Readonly<Record<string, unknown>> = {}) {
    this.#endpoint = endpoint
    this.#text = text
    this.#extra = extra
    this.info = {
      architecture: 'hosted',
      parameters: 0,
      trainableParameters: 0,
      vocabSize: text.vocabSize,
      maxModelLen: Number.MAX_SAFE_INTEGER,
      readsChat: true,
    }
  }

  async sample(request: SampleRequest, call: Call, onToken?: OnToken): Promise<Sample[]> {
    this.#running++
    try {
      return onToken ? await this.#streamed(request, call, onToken) : await this.#whole(request, call)
    } catch (error) {
      if (!call.signal?.aborted) throw error
      const nothing = { tokens: new Int32Array(0), logprobs: new Float32Array(0), versions: [], cachedTokens: 0 }
      return Array.from({ length: request.n }, () => ({ ...nothing, finish: 'abort' as const }))
    } finally {
      this.#running--
    }
  }

  /** Services give as many answers at once as they like: the rest is asked for again. */
  async #whole(request: SampleRequest, { signal, deadlineMs }: Call): Promise<Sample[]> {
    const samples: Sample[] = []
    while (samples.length < request.n) {
      const body = this.#body(request, request.n - samples.length, samples.length)
      const { choices } = await this.#endpoint.complete(body, { signal, deadlineMs })
      for (const choice of choices) samples.push(sampleOf(answerOf(choice), this.#text))
    }
    return samples.slice(0, request.n)
  }

  async #streamed(request: SampleRequest, { signal, deadlineMs }: Call, onToken: OnToken): Promise<Sample[]> {
    const samples: Sample[] = []
    while (samples.length < request.n) {
      const begun = samples.length
      const arriving = new StreamedAnswers((index, text) => {
        for (const token of this.#text.bytesOf(text)) onToken(begun + index, token, Number.NaN)
      })
      const body = this.#body(request, request.n - begun, begun)
      await this.#endpoint.stream(body, { signal, deadlineMs }, (piece) => arriving.push(piece))
      if (!arriving.isWhole(1)) throw this.#cut()
      for (const answer of arriving.answers()) samples.push(sampleOf(answer, this.#text))
    }
    return samples.slice(0, request.n)
  }

  #body(request: SampleRequest, n: number, done: number): Record<string, unknown> {
    const { chat, params, topLogprobs } = request
    if (!chat) {
      throw new TrinityError('engine/unsupported', 'a hosted model answers messages; it does not go on from a text', {
        path: this.#endpoint.url,
        hint: 'call chat with messages',
      })
    }
    // answers that are asked for one after the other must not be the same
    const seed = params.seed === undefined ? undefined : params.seed + done
    return {
      ...requestBody(this.#endpoint.model, chat, { n, params: { ...params, seed }, topLogprobs }),
      ...this.#extra,
    }
  }

  score(): Promise<never> {
    return this.#refuse('gives no log-probs of given tokens', 'for teachers, use an engine that has the weights')
  }

  saveWeights(): Promise<never> {
    return this.#refuse('does not give its weights away')
  }

  loadWeights(): Promise<never> {
    return this.#refuse('takes no weights', 'a hosted model can only be evaluated: mode bench, or auxiliary_models')
  }

  stats(): SamplerStats {
    const { promptTokens, cachedTokens, completionTokens, requests, retries } = this.#endpoint.use
    return {
      running: this.#running,
      waiting: 0,
      cacheTokensUsed: 0,
      cacheTokens: 0,
      promptTokens,
      cachedTokens,
      sampledTokens: completionTokens,
      requests,
      retries,
    }
  }

  memory(): MemoryReport {
    return { weights: 0, gradients: 0, optimizer: 0, activations: 0, cache: 0 }
  }

  async close(): Promise<void> {
    this.#endpoint.close()
  }

  #cut(): TrinityError {
    return new TrinityError('engine/openai/cut', `the stream of '${this.#endpoint.model}' ended before its answer`, {
      path: this.#endpoint.url,
      hint: "see the service's own log",
    })
  }

  async #refuse(what: string, hint?: string): Promise<never> {
    throw new TrinityError('engine/unsupported', `the hosted model '${this.#endpoint.model}' ${what}`, {
      path: this.#endpoint.url,
      hint,
    })
  }
}
