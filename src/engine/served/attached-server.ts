import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, TrinityError } from '../../base/error.js'
import type { ServerApi } from './server-api.js'
import type { NewApi, ServerSource } from './server-source.js'

const ASK_MS = 10_000
const AGAIN_MS = 2000
/** A server that somebody restarts takes minutes to load its model. */
const PATIENCE_MS = 600_000

export interface AttachedSettings {
  readonly title: string
  readonly baseUrl: string
  readonly newApi: NewApi
  readonly patienceMs?: number
}

/** A server that somebody else has started, and that stays when Trinity ends. */
export class AttachedServer implements ServerSource {
  readonly name: string
  readonly #settings: AttachedSettings
  #opened = false

  constructor(settings: AttachedSettings) {
    this.#settings = settings
    this.name = `the ${settings.title} server at ${settings.baseUrl}`
  }

  /** The first time it must be there; one that was lost is waited for. */
  async open(signal: AbortSignal): Promise<ServerApi> {
    const { baseUrl, newApi, title, patienceMs = PATIENCE_MS } = this.#settings
    const api = newApi(baseUrl)
    const until = performance.now() + patienceMs
    for (;;) {
      try {
        await api.health({ signal, deadlineMs: ASK_MS })
        this.#opened = true
        return api
      } catch (cause) {
        signal.throwIfAborted()
        if (this.#opened && performance.now() < until) {
          await sleep(AGAIN_MS, undefined, { signal })
          continue
        }
        api.close()
        throw new TrinityError('engine/server', `there is no ${title} server at ${baseUrl}: ${messageOf(cause)}`, {
          path: baseUrl,
          hint: `start it, or leave base_url out: Trinity then starts ${title} itself`,
          cause,
        })
      }
    }
  }

  async close(): Promise<void> {}
}
