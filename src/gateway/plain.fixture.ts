import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { TrinityError } from '../base/error.js'
import type { Answered, ChatModel } from '../dialect/chat-model.js'
import type { Answering, Asked, Dialect, ServerEvent } from '../dialect/dialect.js'
import { type DivergenceCounts, noDivergences } from '../experience/divergence.js'
import { createExperience, makeEid } from '../experience/index.js'
import type { Tokenizer } from '../model/index.js'
import { Gateway, type GatewayOptions, type Session, type SessionParts } from './index.js'

export interface FakeOptions {
  readonly name?: string
  readonly text?: string
  /** Between tokens. */
  readonly stepMs?: number
  readonly error?: Error
  /** The error comes after this many tokens. */
  readonly errorAt?: number
  readonly diverged?: Partial<DivergenceCounts>
}

/** Says its text one letter at a time, and counts what became of its calls. */
export class FakeModel implements ChatModel {
  readonly name: string
  readonly version = 7
  readonly stats: { readonly diverged: DivergenceCounts }
  readonly tokenizer = undefined as unknown as Tokenizer
  begun = 0
  recorded = 0
  stopped = 0
  readonly #options: FakeOptions

  constructor(options: FakeOptions = {}) {
    this.name = options.name ?? 'policy'
    this.stats = { diverged: { ...noDivergences(), ...options.diverged } }
    this.#options = options
  }

  async answers(...[, , onText, signal]: Parameters<ChatModel['answers']>): Promise<Answered[]> {
    const { text = 'hello', stepMs = 0, error, errorAt = 0 } = this.#options
    this.begun++
    const tokens = Int32Array.from([...text].map((letter) => letter.codePointAt(0)!))
    for (const [i, token] of tokens.entries()) {
      if (error && i === errorAt) throw error
      if (stepMs > 0) await sleep(stepMs)
      else await turn()
      if (signal?.aborted) {
        this.stopped++
        throw signal.reason
      }
      onText?.(0, token, -1)
    }
    this.recorded++
    const logprobs = new Float32Array(tokens.length).fill(-1)
    const sample = { tokens, logprobs, finish: 'stop' as const, versions: [], cachedTokens: 0 }
    const experience = createExperience({
      ...{ eid: makeEid(), tokens: Int32Array.of(1, ...tokens.subarray(0, 8)), promptLength: 1 },
      responseText: text,
    })
    return [{ experience, sample, raw: text, promptTokens: 3 }]
  }

  complete(): Promise<Answered[]> {
    return this.answers([])
  }

  remember(): void {}
}

/** A wire form with nothing but `say`, `stream`, `model`, `after` (the id of an earlier reply) and `wide` events. */
export const plain: Dialect = {
  name: 'plain',
  path: '/say',
  replyId: () => `re-${randomUUID()}`,
  refusal: ({ status, code, message, param }) => ({ type: 'error', error: { status, code, message, param } }),
  read(body, recall): Asked {
    const { say, stream = false, model, after, wide = 1 } = body
    if (typeof say !== 'string') throw new TrinityError('dialect/invalid', 'say must be a text', { path: 'say' })
    const before = after === undefined ? [] : recall(String(after))?.messages
    if (!before) throw new TrinityError('dialect/invalid', `there is no reply ${after}`, { path: 'after' })
    const messages = [...before, { role: 'user', content: say }]
    return {
      messages,
      stream: stream === true,
      carried: {},
      model: typeof model === 'string' ? model : undefined,
      sample: (one, onText, signal) => one.answers(messages, {}, onText, signal),
      reply: (head, [{ raw }]) => ({ ...head, said: raw, heard: messages }),
      said: ({ raw }) => ({ role: 'assistant', content: raw }),
      events: (head, _, answering) => events(head.id, answering, Number(wide)),
    }
  },
}

async function* events(id: string, answering: Answering, wide: number): AsyncGenerator<ServerEvent> {
  const queue: ServerEvent[] = [{ event: 'start', data: id }]
  let wake = () => {}
  let done: { error?: unknown } | undefined
  const control = new AbortController()
  const end = (how: { error?: unknown }) => {
    done = how
    wake()
  }
  answering((_, token) => {
    queue.push({ data: String.fromCodePoint(token).repeat(wide) })
    wake()
  }, control.signal).then(
    () => end({}),
    (error) => end({ error }),
  )
  for (;;) {
    while (queue.length > 0) yield queue.shift()!
    if (done) break
    await new Promise<void>((resolve) => (wake = resolve))
  }
  if (done.error !== undefined) throw done.error
  yield { data: '[DONE]' }
}

/** A reply, or a list of models, as a client reads it. */
export interface Heard {
  readonly id: string
  readonly said: string
  readonly model: string
  readonly heard: readonly { readonly content: string }[]
  readonly data: readonly { readonly id: string }[]
}

export async function heard(response: Response | Promise<Response>): Promise<Heard> {
  return (await (await response).json()) as Heard
}

/** An open gateway with one session of a fake model. */
export async function openGateway(
  options: GatewayOptions & { fake?: FakeOptions; parts?: Partial<SessionParts> } = {},
) {
  const { fake, parts, ...rest } = options
  const gateway = await Gateway.open({ dialects: [plain], ...rest })
  const model = new FakeModel(fake)
  const session = gateway.session({ model, ...parts })
  const post = (body: unknown, init: RequestInit & { path?: string } = {}) =>
    fetch(`${session.baseURL}${init.path ?? '/say'}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...init,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${session.apiKey}`, ...init.headers },
    })
  return { gateway, model, session, post }
}

/** What a session's client writes on its socket to say something; other headers as lines. */
export function rawPost(session: Session, body: string, lines: readonly string[] = []): string {
  const { pathname, host } = new URL(session.baseURL)
  return [
    ...[`POST ${pathname}/say HTTP/1.1`, `host: ${host}`, `authorization: Bearer ${session.apiKey}`],
    ...['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`, ...lines, '', body],
  ].join('\r\n')
}

/** A connection to a gateway that nobody reads from yet. */
export function rawSocket(gateway: Gateway): Promise<Socket> {
  const { hostname, port } = new URL(gateway.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket))
    socket.pause().once('error', reject)
    socket.on('error', () => {})
  })
}

/** Everything that comes until the other side closes. */
export async function rawRead(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => (text += chunk)).resume()
  await new Promise((resolve) => socket.once('close', resolve))
  return text
}
