import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { TrinityError } from '../base/error.js'
import { manyListeners } from '../base/link-signals.js'
import type { Answered, ChatModel, OnText } from '../dialect/chat-model.js'
import type { Asked, Dialect, Head, Wire } from '../dialect/dialect.js'
import type { RequestNotes } from '../dialect/request-notes.js'
import { checkMediaType, parseBody, readBody } from './body.js'
import { Delivery } from './delivery.js'
import { EVENTS_TYPE, EventStream, eventText } from './event-stream.js'
import type { Flusher } from './flusher.js'
import type { GatewayLimits } from './limits.js'
import { type Meter, tokensOf } from './meter.js'
import type { Reply } from './replies.js'
import { JSON_TYPE, replyHeaders, send } from './send.js'
import { OpenSession, type Running } from './session.js'
import type { Arrive } from './sessions.js'

export interface CallParts {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly dialect: Dialect
  /** The session, or how to find it when the body is there. */
  readonly whose: OpenSession | Arrive
  readonly limits: GatewayLimits
  readonly meter: Meter
  readonly flusher: Flusher
  /** Receives what a request lost while it was read. */
  readonly onNotes: (notes: RequestNotes, session: OpenSession) => void
}

/**
 * One request of a session on its way to an answer. Sampling stops when the client leaves, when the session or the
 * server ends, and when time is up.
 */
export class Call implements Running {
  readonly #parts: CallParts
  readonly #begun = performance.now()
  readonly #control = manyListeners(new AbortController())
  readonly #delivery: Delivery
  #session: OpenSession | undefined
  #leave = () => {}
  /** Sampled, and not yet part of a reply. */
  #loose: readonly Answered[] | undefined
  #over = false

  constructor(parts: CallParts) {
    this.#parts = parts
    this.#delivery = new Delivery(parts.outgoing)
  }

  abort(reason: TrinityError): void {
    this.#control.abort(reason)
  }

  /** Resolves when the client has its reply. What it throws is still to be told to the client, if there is one. */
  async run(): Promise<void> {
    const { outgoing, whose, limits, meter } = this.#parts
    if (whose instanceof OpenSession) this.#join(whose)
    const left = () => {
      // Every response is closed in the end.
      if (!this.#delivery.isSent) this.abort(new TrinityError('gateway/left', 'the client left'))
    }
    const late = () =>
      this.abort(new TrinityError('gateway/call-time', `the call took longer than ${limits.callMs} ms`))
    const timer = setTimeout(late, limits.callMs)
    outgoing.once('close', left)
    meter.callsInFlight++
    try {
      await this.#answer()
      meter.total.add(performance.now() - this.#begun)
    } catch (error) {
      if (this.#loose) this.#session?.unanswered(this.#loose)
      // What stopped the sampling is the cause, whatever became of it on the way here.
      throw this.#control.signal.aborted ? this.#control.signal.reason : error
    } finally {
      this.#over = true
      meter.callsInFlight--
      this.#leave()
      outgoing.off('close', left)
      clearTimeout(timer)
    }
  }

  #join(session: OpenSession): void {
    this.#leave = session.admit(this)
    this.#session = session
  }

  async #answer(): Promise<void> {
    const { incoming, outgoing, limits, meter } = this.#parts
    checkMediaType(incoming)
    const body = await this.#unlessAborted(readBody(incoming, limits))
    const { session, read } = this.#place(parseBody(body, limits))
    const key = incoming.headers['idempotency-key']
    if (typeof key !== 'string') {
      const reply = await this.#reply(session, read(), false)
      await this.#reached(reply, () => session.unanswered(reply.answers))
      return
    }
    const digest = createHash('sha256').update(this.#parts.dialect.path).update(body).digest('base64')
    const claimed = await session.replies.claim(key, digest, (work) => this.#unlessAborted(work))
    let reply: Reply | undefined
    if (typeof claimed !== 'function') {
      reply = claimed
      meter.retries++
      send(outgoing, 200, reply.record.streamed ? EVENTS_TYPE : JSON_TYPE, reply.text, replyHeaders(reply.record.id))
    } else {
      try {
        reply = await this.#reply(session, read(), true)
      } finally {
        claimed(reply)
      }
    }
    // It may be asked for again: whether it reached anybody is known when the session ends.
    await this.#reached(reply)
  }

  /** The session of a request, and what it asks for. */
  #place(wire: Wire): { session: OpenSession; read: () => Asked } {
    const { dialect, whose } = this.#parts
    if (whose instanceof OpenSession) return { session: whose, read: () => dialect.read(wire, whose.recall) }
    const { session, asked } = whose((recall) => dialect.read(wire, recall))
    this.#join(session)
    return { session, read: () => asked }
  }

  /** Samples and sends. With `keep` also where the client left meanwhile: it may ask again. */
  async #reply(session: OpenSession, asked: Asked, keep: boolean): Promise<Reply> {
    const { dialect, outgoing, limits, flusher } = this.#parts
    const model = session.modelOf(asked.model)
    this.#note(session, model, asked)
    const name = asked.model ?? model.name
    const head: Head = { id: dialect.replyId(), created: Math.floor(Date.now() / 1000), model: name }
    const stream = asked.stream ? new EventStream(outgoing, limits, replyHeaders(head.id), flusher) : undefined
    try {
      const text = stream ? await this.#events(asked, head, model, stream, keep) : await this.#whole(asked, head, model)
      const answers = this.#loose ?? []
      const before = asked.messages
      if (before && answers.length > 0) {
        const threads = () => answers.map((answer, i) => [...before, asked.said(answer, head, i, model)])
        session.keep(head.id, threads, asked.carried)
      }
      const record: Reply['record'] = {
        ...{ id: head.id, dialect: dialect.name, model: name, streamed: asked.stream, finished: false },
        ...tokensOf(answers),
        ms: performance.now() - this.#begun,
      }
      session.calls.push(record)
      this.#loose = undefined
      if (stream) stream.end()
      else send(outgoing, 200, JSON_TYPE, text, replyHeaders(head.id))
      return { record, text, answers }
    } finally {
      stream?.stop()
    }
  }

  #note(session: OpenSession, model: ChatModel, { notes }: Asked): void {
    if (!notes || notes.isEmpty) return
    const unknown = session.parts.unknownFields ?? model.unknownFields
    if (unknown === 'refuse') notes.refuse()
    model.noted?.(notes)
    this.#parts.onNotes(notes, session)
  }

  async #whole(asked: Asked, head: Head, model: ChatModel): Promise<string> {
    return JSON.stringify(asked.reply(head, await this.#sample(asked, head, model, undefined), model))
  }

  async #events(asked: Asked, head: Head, model: ChatModel, stream: EventStream, keep: boolean): Promise<string> {
    const sample = (onText: OnText, signal: AbortSignal) => {
      signal.addEventListener('abort', () => this.#control.abort(signal.reason), { once: true })
      return this.#sample(asked, head, model, (index, token, logprob) => {
        if (!stream.begun) {
          this.#parts.meter.firstToken.add(performance.now() - this.#begun)
          stream.begin()
        }
        onText(index, token, logprob)
      })
    }
    let kept = ''
    for await (const event of asked.events(head, model, sample)) {
      const text = eventText(event)
      if (keep) kept += text
      const room = stream.write(text)
      if (room) await room
      // What is sampled meanwhile makes one event.
      else if (!this.#loose) await stream.flushed
    }
    return kept
  }

  async #sample(asked: Asked, head: Head, model: ChatModel, onText: OnText | undefined): Promise<Answered[]> {
    const { meter } = this.#parts
    const sampling = asked.sample(model, onText, this.#control.signal).then(async (answers) => {
      meter.answered(answers)
      // A model that does not stop when it is told to still has recorded what it said.
      if (this.#over) this.#session?.unanswered(answers)
      else {
        this.#loose = answers
        await this.#session?.parts.onAnswers?.(answers, head.id)
      }
      return answers
    })
    return this.#unlessAborted(sampling)
  }

  /** Waits until the client has all of a reply, or never will. */
  async #reached({ record }: Reply, onLoss = () => {}): Promise<void> {
    if (await this.#delivery.sent(this.#parts.limits.unreadMs)) {
      record.finished = true
      return
    }
    onLoss()
    throw new TrinityError('gateway/left', 'the client left before it had its reply')
  }

  #unlessAborted<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.#control
    return new Promise((resolve, reject) => {
      const abort = () => reject(signal.reason)
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort, { once: true })
      work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
    })
  }
}
