import { createHash, timingSafeEqual } from 'node:crypto'
import { TrinityError } from '../base/error.js'
import type { Logger } from '../base/log/logger.js'
import type { Answered, ChatModel } from '../dialect/chat-model.js'
import type { Recall, Recalled } from '../dialect/dialect.js'
import type { UnknownFields } from '../dialect/request-notes.js'
import type { GatewayLimits } from './limits.js'
import { Replies } from './replies.js'

/** What a session answers with. */
export interface SessionParts {
  readonly model: ChatModel
  /** Further models by the name that clients give. */
  readonly models?: Readonly<Record<string, ChatModel>>
  /** A name that no model has is 404. Else `model` answers to it: an unchanged agent names the model it was written for. */
  readonly strictModels?: boolean
  /** Treatment of unknown request fields and of hosted tools. Default: that of the model. */
  readonly unknownFields?: UnknownFields
  /** Receives what requests of the session lost, each once. Default: the logger of the gateway. */
  readonly logger?: Pick<Logger, 'warn'>
  /** Ends the session. */
  readonly signal?: AbortSignal
  /** Default: random. Letters, digits, `.`, `_` and `-`. */
  readonly id?: string
  /** Told of answers before the client has the end of their reply, which waits for it. */
  readonly onAnswers?: (answers: readonly Answered[], replyId: string) => Promise<void>
  /** Told of answers that were sampled and recorded, and did not reach the client. */
  readonly onUnanswered?: (answers: readonly Answered[]) => void
}

/** One call that a model answered. */
export interface CallRecord {
  /** Of the reply, as the client knows it. */
  readonly id: string
  readonly dialect: string
  readonly model: string
  readonly promptTokens: number
  readonly completionTokens: number
  readonly ms: number
  readonly streamed: boolean
  /** The client has got the whole reply. */
  readonly finished: boolean
}

/** The calls of one rollout: they have a URL and a key of their own, which are dead after `close`. */
export interface Session {
  readonly id: string
  /** For clients of OpenAI's API: `…/s/<id>/v1`. */
  readonly baseURL: string
  /** For clients of Anthropic's API: `…/s/<id>`. */
  readonly anthropicBaseURL: string
  readonly apiKey: string
  readonly calls: readonly CallRecord[]
  close(): void
}

/** A call that goes on. */
export interface Running {
  abort(reason: TrinityError): void
}

/** The conversations up to and with each answer of a reply. Made when somebody wants them: most never do. */
export type Threads = () => readonly Recalled['messages'][]

/** Told of what happens in a session. */
export interface SessionWatch {
  onClose(session: OpenSession): void
  /** A reply was given. */
  onReply(session: OpenSession, threads: Threads): void
}

/** A session as the server sees it. */
export class OpenSession implements Session {
  readonly id: string
  readonly anthropicBaseURL: string
  readonly apiKey: string
  readonly calls: CallRecord[] = []
  readonly parts: SessionParts
  readonly running = new Set<Running>()
  readonly #keyHash: Buffer
  readonly #limits: GatewayLimits
  readonly #watch: SessionWatch
  /** Made when first needed: most sessions never do. */
  #replies: Replies | undefined
  #recalled: Map<string, { readonly threads: Threads; readonly carried: Recalled['carried'] }> | undefined
  #closed = false

  constructor(
    { id, url, apiKey, keyHash }: { id: string; url: string; apiKey: string; keyHash: Buffer },
    parts: SessionParts,
    limits: GatewayLimits,
    watch: SessionWatch,
  ) {
    this.id = id
    this.anthropicBaseURL = `${url}/s/${id}`
    this.apiKey = apiKey
    this.parts = parts
    this.#keyHash = keyHash
    this.#limits = limits
    this.#watch = watch
    if (parts.signal?.aborted) this.#closed = true
    else parts.signal?.addEventListener('abort', this.close, { once: true })
  }

  get baseURL(): string {
    return `${this.anthropicBaseURL}/v1`
  }

  get closed(): boolean {
    return this.#closed
  }

  get replies(): Replies {
    this.#replies ??= new Replies(this.#limits.replies, (answers) => this.unanswered(answers))
    return this.#replies
  }

  /** Lets a call in, until it says that it is over. */
  admit(call: Running): () => void {
    const { callsPerSession } = this.#limits
    if (this.running.size >= callsPerSession) throw busy('this session', callsPerSession)
    this.running.add(call)
    return () => this.running.delete(call)
  }

  opensWith(key: string): boolean {
    return timingSafeEqual(this.#keyHash, hashOf(key))
  }

  /** The model that a client means. */
  modelOf(name: string | undefined): ChatModel {
    const { model, models = {}, strictModels = false } = this.parts
    if (name !== undefined && Object.hasOwn(models, name)) return models[name]
    if (!strictModels || name === undefined || name === model.name) return model
    throw new TrinityError('gateway/model', `there is no model '${name}'`, {
      path: 'model',
      hint: `there are ${this.modelNames.join(', ')}`,
    })
  }

  get modelNames(): string[] {
    return [...new Set([this.parts.model.name, ...Object.keys(this.parts.models ?? {})])]
  }

  readonly recall: Recall = (replyId) => {
    const found = this.#recalled?.get(replyId)
    return found && { messages: found.threads()[0], carried: found.carried }
  }

  /** Keeps where a reply stood, if it can be named. Who does so goes on from its first answer. */
  keep(replyId: string, threads: Threads, carried: Recalled['carried']): void {
    this.#watch.onReply(this, threads)
    if (!carried) return
    this.#recalled ??= new Map()
    this.#recalled.set(replyId, { threads, carried })
    if (this.#recalled.size > this.#limits.replies) this.#recalled.delete(this.#recalled.keys().next().value!)
  }

  unanswered(answers: readonly Answered[]): void {
    this.parts.onUnanswered?.(answers)
  }

  readonly close = (): void => {
    this.end(new TrinityError('gateway/session', `session ${this.id} has ended`))
  }

  end(reason: TrinityError): void {
    if (this.#closed) return
    this.#closed = true
    this.parts.signal?.removeEventListener('abort', this.close)
    for (const call of this.running) call.abort(reason)
    this.#recalled = undefined
    this.#replies?.clear()
    this.#watch.onClose(this)
  }
}

export function busy(who: string, calls: number): TrinityError {
  return new TrinityError('gateway/busy', `${who} has ${calls} calls in flight`, { hint: 'try again later' })
}

/** Hashes have one length, and comparing them says nothing of what was hashed. */
export function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
