import type { Logger } from '../../base/log/logger.js'
import { readingOf } from '../answer.js'
import type { ChatModel } from '../chat-model.js'
import type { Answering } from '../dialect.js'
import { newId } from '../ids.js'
import { NoteLog, type RequestNotes, type UnknownFields } from '../request-notes.js'
import { completionOf } from './completion.js'
import { readRequest } from './request.js'
import { chunksOf } from './stream.js'
import type { Completion, CompletionChunk, CompletionRequest, RequestOptions } from './types.js'

/** What the SDK calls a Stream: chunks as they are sampled. Leaving the loop early stops the sampling. */
export interface CompletionStream extends AsyncIterable<CompletionChunk> {
  readonly controller: AbortController
}

/** What `create` returns in the SDK: a promise that can also tell of the response behind it. */
export type CompletionPromise<T> = Promise<T> & {
  withResponse(): Promise<{ data: T; response: Response; request_id: string | null }>
  asResponse(): Promise<Response>
}

/**
 * Stands where code expects an `OpenAI` instance. It answers inside this process from the model of the run, and every
 * answer is recorded with the tokens that were sampled.
 */
export interface OpenAIClient {
  readonly baseURL: string
  readonly apiKey: string
  readonly chat: {
    readonly completions: {
      create(body: CompletionRequest & { stream: true }, options?: RequestOptions): CompletionPromise<CompletionStream>
      create(
        body: CompletionRequest & { stream?: false | null },
        options?: RequestOptions,
      ): CompletionPromise<Completion>
      create(body: CompletionRequest, options?: RequestOptions): CompletionPromise<Completion | CompletionStream>
    }
  }
  readonly models: {
    list(): Promise<{ object: 'list'; data: { id: string; object: 'model'; created: number; owned_by: string }[] }>
  }
}

/** Shared by all clients of the process, because each rollout has its own client. */
const noteLog = new NoteLog()

export interface OpenAIOptions {
  /** Receives what requests lost while they were read, each once in this process. */
  readonly logger?: Pick<Logger, 'warn'>
  /** Treatment of unknown request fields and of hosted tools. Default: that of the model. */
  readonly unknownFields?: UnknownFields
}

export function createOpenAI(model: ChatModel, { logger, unknownFields }: OpenAIOptions = {}): OpenAIClient {
  const note = (notes: RequestNotes) => {
    if (notes.isEmpty) return
    if ((unknownFields ?? model.unknownFields) === 'refuse') notes.refuse()
    model.noted?.(notes)
    if (logger) noteLog.add(notes, logger)
  }
  const create = (body: CompletionRequest, options: RequestOptions = {}) =>
    asPromise(async (): Promise<Completion | CompletionStream> => {
      const request = readRequest(body)
      note(request.notes)
      const head = {
        id: newId('chatcmpl-'),
        created: Math.floor(Date.now() / 1000),
        model: body.model ?? model.name,
      }
      const { messages, args } = request
      const reading = readingOf(model, args.tools !== undefined, head.id)
      const signal = options.signal ?? undefined
      if (!request.stream) {
        return completionOf(head, await model.answers(messages, args, undefined, signal), model, reading, request)
      }
      const controller = new AbortController()
      const abort = () => controller.abort(signal?.reason)
      if (signal?.aborted) abort()
      signal?.addEventListener('abort', abort, { once: true })
      const answering: Answering = (onText, own) =>
        model
          .answers(messages, { ...args, n: args.n ?? 1 }, onText, own)
          .finally(() => signal?.removeEventListener('abort', abort))
      const chunks = () => chunksOf(head, model, answering, reading, request, controller)
      return { controller, [Symbol.asyncIterator]: chunks }
    })
  return {
    baseURL: 'trinity://rollout',
    apiKey: 'EMPTY',
    chat: { completions: { create: create as OpenAIClient['chat']['completions']['create'] } },
    models: {
      list: async () => ({
        object: 'list',
        data: [{ id: model.name, object: 'model', created: 0, owned_by: 'trinity' }],
      }),
    },
  }
}

function asPromise<T>(work: () => Promise<T>): CompletionPromise<T> {
  const promise = work()
  const asResponse = async () => {
    const data = await promise
    return Response.json(data)
  }
  return Object.assign(promise, {
    asResponse,
    withResponse: async () => ({ data: await promise, response: new Response(null), request_id: null }),
  })
}
