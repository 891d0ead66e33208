import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { HttpError } from '../../base/http/error.js'
import { waitMs } from '../../base/http/retry.js'
import type { HttpAnswer, HttpService } from '../../base/http/service.js'
import { badAnswer } from './failure.js'

/** What a request has become. */
export interface Outcome {
  /** Of an answer in protocol buffers. */
  readonly bytes?: Uint8Array
  /** Of an answer in JSON. */
  readonly json?: unknown
}

/** A service answers such a question when there is something to say, or after a while; it may be asked anew at any time. */
const POLL_MS = 45_000
/** How long a service may be out of reach before what was asked for is given up. */
const PATIENCE_MS = 600_000
/** Failures of the service itself, one after the other, before they are believed. */
const FAILURES = 5
/** A proxy on the way may refuse what the service would not. */
const REFUSALS = 2

const said = z.object({
  type: z.string().optional(),
  error: z.string().optional(),
  category: z.string().optional(),
  queue_state: z.string().optional(),
})

/** The request is not known any more: it has to be made again. */
export class ForgottenRequest extends Error {}

/** Waits for the result of a request, however long it takes, until the signal fires. */
export async function retrieve(http: HttpService, id: string, kind: string, signal: AbortSignal): Promise<Outcome> {
  const patience = new Patience()
  for (let turn = 0; ; turn++) {
    signal.throwIfAborted()
    const headers = {
      accept: 'application/x-protobuf, application/json',
      'x-tinker-request-iteration': String(turn),
      'x-tinker-request-type': kind,
    }
    try {
      const asked = { request_id: id, allow_metadata_only: false }
      const answer = await http.send('POST', 'api/v1/retrieve_future', asked, { signal, deadlineMs: POLL_MS, headers })
      const outcome = outcomeOf(answer, kind)
      if (outcome) return outcome
      patience.renew()
      // a service that answers at once that it needs time is not asked in a tight loop
      await sleep(turn === 0 ? 20 : 200, undefined, { signal }).catch(() => signal.throwIfAborted())
    } catch (error) {
      signal.throwIfAborted()
      const wait = patience.waitAfter(error)
      if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }
}

/** Undefined: not yet. */
function outcomeOf({ headers, bytes }: HttpAnswer, kind: string): Outcome | undefined {
  if (headers['content-type']?.startsWith('application/x-protobuf')) return { bytes }
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(bytes).toString())
  } catch (cause) {
    throw badAnswer(`the result of ${kind} is neither JSON nor protobuf: ${(cause as Error).message}`)
  }
  const { type, error, category } = said.safeParse(json).data ?? {}
  if (type === 'try_again') return undefined
  if (error === undefined) return { json }
  throw new TrinityError('tinker/failed', `${kind} failed at the Tinker service: ${error}`, {
    hint: category === 'user' ? 'the service says that the request is wrong' : 'look at the log of the service',
  })
}

/** How long failures are borne. */
class Patience {
  #since = performance.now()
  #failures = 0
  #refusals = 0

  renew(): void {
    this.#since = performance.now()
    this.#failures = 0
  }

  /** Milliseconds to wait before the next try; throws what cannot pass. */
  waitAfter(error: unknown): number {
    if (!(error instanceof HttpError)) throw error
    const { status, code } = error
    if (status === 408 || code.endsWith('/deadline')) {
      this.renew()
      return 0
    }
    if (status === 410) throw new ForgottenRequest(error.message, { cause: error })
    if (status === 400 && this.#refusals++ < REFUSALS) return 300
    const isOver = performance.now() - this.#since > PATIENCE_MS
    const isBroken = status !== undefined && status >= 500 && this.#failures >= FAILURES
    if (!error.isPassing || isOver || isBroken) throw error
    return waitMs(this.#failures++, { times: FAILURES }, error.retryAfterMs)
  }
}
