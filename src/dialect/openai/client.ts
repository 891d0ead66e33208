import type { ChatModel } from '../chat-model.js'
import { completionOf } from './completion.js'
import { checkParsers, type Parsers } from './parsers.js'
import { chatArgs } from './request.js'
import { type CompletionStream, streamOf } from './stream.js'
import type { Completion, CompletionRequest, RequestOptions } from './types.js'

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

export function createOpenAI(model: ChatModel, parsers: Parsers = {}): OpenAIClient {
  let requests = 0
  const create = (body: CompletionRequest, options: RequestOptions = {}) =>
    asPromise(async (): Promise<Completion | CompletionStream> => {
      const args = chatArgs(body)
      const head = {
        id: `chatcmpl-${requests++}`,
        created: Math.floor(Date.now() / 1000),
        model: body.model ?? model.name,
      }
      const tools = args.tools !== undefined
      const reasoning = checkParsers(parsers, tools)
      if (!body.stream) {
        const answers = await model.answers(body.messages, args, undefined, options.signal ?? undefined)
        return completionOf(head, answers, model, { tools, reasoning, logprobs: body.logprobs ?? false })
      }
      const controller = new AbortController()
      const abort = () => controller.abort(options.signal?.reason)
      if (options.signal?.aborted) abort()
      options.signal?.addEventListener('abort', abort, { once: true })
      const call = (onToken: (index: number, token: number) => void) =>
        model
          .answers(body.messages, { ...args, n: args.n ?? 1 }, onToken, controller.signal)
          .finally(() => options.signal?.removeEventListener('abort', abort))
      const usage = body.stream_options?.include_usage ?? false
      const stop = args.include_stop_str_in_output ? [] : [args.stop ?? []].flat()
      return streamOf(head, model, call, controller, { n: args.n ?? 1, tools, reasoning, usage, stop })
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
