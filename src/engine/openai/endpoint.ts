import { TrinityError } from '../../base/error.js'
import { type CallOptions, HttpError, HttpService, type RetryPolicy } from '../../base/http/index.js'
import { jsonIn } from '../../base/json-text.js'
import { type Completion, chunk, completion, models, type Usage } from './wire.js'

export interface EndpointOptions {
  readonly model: string
  /** With the path below which `/chat/completions` is. */
  readonly baseUrl: string
  readonly apiKey: string
  /** Requests at once; more wait. */
  readonly maxInFlight: number
  readonly retries: number | RetryPolicy
}

/** What a service was asked for, and what it counts. */
export interface EndpointUse {
  readonly requests: number
  /** Of these, what was asked for again. */
  readonly retries: number
  readonly promptTokens: number
  /** Of these, what the service had in its cache. */
  readonly cachedTokens: number
  readonly completionTokens: number
}

const CHATS = '/chat/completions'

type Body = Readonly<Record<string, unknown>>

/** One model of a service that speaks the OpenAI chat API. */
export class ChatEndpoint {
  readonly model: string
  readonly #service: HttpService
  readonly #used = { promptTokens: 0, cachedTokens: 0, completionTokens: 0 }
  /** Newer models of OpenAI refuse the older name. */
  #limitName = 'max_tokens'

  constructor({ model, baseUrl, apiKey, maxInFlight, retries }: EndpointOptions) {
    this.model = model
    this.#service = new HttpService({
      name: `the service of '${model}'`,
      baseUrl,
      code: 'engine/openai',
      headers: () => ({ authorization: `Bearer ${apiKey}` }),
      connections: maxInFlight,
      retries,
      mustBeThere: true,
      hint,
    })
  }

  get url(): string {
    return this.#service.url
  }

  get use(): EndpointUse {
    return { ...this.#service.counts, ...this.#used }
  }

  /**
   * Throws where nobody is there, the key is refused, or chats are not below this address. Says which models there are,
   * where the service tells.
   */
  async models(options: CallOptions): Promise<string[]> {
    try {
      const { data } = await this.#service.json('GET', '/models', undefined, models, options)
      return data.map(({ id }) => id)
    } catch (error) {
      if (!(error instanceof HttpError) || !/\/(not-found|refused|answer)$/.test(error.code)) throw error
      // not every service has the route: what the model says is all that counts
      if (error.code.endsWith('/not-found')) await this.#lookForChats(options)
      return []
    }
  }

  /** A request without messages costs nothing: who takes chats refuses it, at other addresses there is no such route. */
  async #lookForChats(options: CallOptions): Promise<void> {
    const empty = { model: this.model, messages: [] }
    await this.#service.send('POST', CHATS, empty, { ...options, retries: 0 }).catch((error) => {
      if (!(error instanceof HttpError) || /\/(not-found|unauthorized)$/.test(error.code)) throw error
    })
  }

  complete(body: Body, options: CallOptions): Promise<Completion> {
    return this.#limited(body, async (one) => {
      const answer = await this.#service.json('POST', CHATS, one, completion, options)
      this.#count(answer.usage)
      return answer
    })
  }

  /** Calls `onChunk` with what arrives. */
  async stream(body: Body, options: CallOptions, onChunk: (piece: ReturnType<typeof chunkOf>) => void): Promise<void> {
    const asked = { ...body, stream: true, stream_options: { include_usage: true } }
    await this.#limited(asked, async (one) => {
      for await (const data of this.#service.events(CHATS, one, options)) {
        if (data === '[DONE]') return
        const piece = chunkOf(data, this.url)
        this.#count(piece.usage)
        onChunk(piece)
      }
    })
  }

  close(): void {
    this.#service.close()
  }

  async #limited<T>(body: Body, ask: (body: Body) => Promise<T>): Promise<T> {
    const { max_tokens: limit, ...rest } = body
    const named = () => (limit === undefined ? body : { ...rest, [this.#limitName]: limit })
    try {
      return await ask(named())
    } catch (error) {
      const wants = error instanceof HttpError && error.status === 400 && error.said.includes('max_completion_tokens')
      if (!wants || limit === undefined || this.#limitName !== 'max_tokens') throw error
      this.#limitName = 'max_completion_tokens'
      return ask(named())
    }
  }

  #count(usage: Usage | null | undefined): void {
    if (!usage) return
    this.#used.promptTokens += usage.prompt_tokens
    this.#used.completionTokens += usage.completion_tokens
    this.#used.cachedTokens += usage.prompt_tokens_details?.cached_tokens ?? 0
  }
}

/** A service that fails after it has begun says so in the stream. */
function chunkOf(data: string, path: string) {
  const parsed = chunk.safeParse(jsonIn(data))
  if (parsed.success && parsed.data.error === undefined) return parsed.data
  throw new TrinityError('engine/openai/answer', `the service sent in its stream: ${data.slice(0, 300)}`, {
    path,
    hint: 'see what the service says of it',
  })
}

function hint(status: number | undefined): string | undefined {
  if (status === 401 || status === 403) return 'look at the key'
  if (status === 404) return 'look at the name of the model and at the address'
  if (status === 429) return 'lower max_in_flight or explorer.runner_per_model, or raise the limits at the service'
  if (status === undefined) return 'is the service running, and is this its address?'
  return undefined
}
