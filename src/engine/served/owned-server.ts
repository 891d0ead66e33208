import { setTimeout as sleep } from 'node:timers/promises'
import { TrinityError } from '../../base/error.js'
import { freePort } from '../../machine/ground/free-port.js'
import type { OwnedProcess } from '../../machine/owned-process.js'
import { PythonProcess } from '../../machine/python/process.js'
import type { ServerApi } from './server-api.js'
import type { NewApi, ServerSource } from './server-source.js'

const LOOK_MS = 300
const START_MS = 1_800_000
const LEAVE_MS = 10_000
const ERROR_LINES = 12

export interface OwnedSettings {
  readonly title: string
  readonly python: string
  /** What `python -m` would run. */
  readonly module: string
  /** Of a server on that port. */
  readonly args: (port: number) => readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Fixed where somebody must know it; else a free one. */
  readonly port?: number
  readonly log?: (line: string) => void
  readonly newApi: NewApi
  readonly startMs?: number
}

/** A server in a process of its own, that ends with this one whatever way this one ends. */
export class OwnedServer implements ServerSource {
  readonly name: string
  onLost?: (why: string) => void
  readonly #settings: OwnedSettings
  #process: OwnedProcess | undefined
  #closed = false

  constructor(settings: OwnedSettings, index: number) {
    this.#settings = settings
    this.name = `${settings.title} server ${index}`
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  async open(signal: AbortSignal): Promise<ServerApi> {
    const { newApi, startMs = START_MS } = this.#settings
    // what is left of one that died
    this.#process?.leave()
    this.#process?.kill()
    const port = this.#settings.port ?? (await freePort())
    const process = this.#start(port)
    const api = newApi(`http://127.0.0.1:${port}`)
    const until = performance.now() + startMs
    try {
      for (;;) {
        signal.throwIfAborted()
        if (process.exit) throw this.#died(process)
        if (performance.now() > until) throw this.#late(process, startMs)
        // not ready is the usual answer
        if (
          await api.health({ signal, deadlineMs: 5000 }).then(
            () => true,
            () => false,
          )
        )
          break
        await sleep(LOOK_MS, undefined, { signal })
      }
    } catch (error) {
      process.kill()
      api.close()
      throw error
    }
    void process.exited.then(() => {
      if (this.#process === process && !this.#closed) this.onLost?.(howEnded(process))
    })
    return api
  }

  async close(): Promise<void> {
    this.#closed = true
    const process = this.#process
    if (process && !process.exit) await process.end(LEAVE_MS)
  }

  #start(port: number): OwnedProcess {
    const { python, module, args, env, log } = this.#settings
    this.#process = new PythonProcess({
      python,
      module: 'trinity_served',
      args: [module, ...args(port)],
      env: { HF_HUB_OFFLINE: '1', TOKENIZERS_PARALLELISM: 'false', PYTHONHASHSEED: '0', ...env },
      log,
    })
    return this.#process
  }

  #died(process: OwnedProcess): TrinityError {
    const { error } = process.exit!
    const lines = process.log.last(ERROR_LINES)
    return new TrinityError('engine/server', `${this.name} ${howEnded(process)} before it was ready`, {
      path: this.#settings.python,
      hint: error ? undefined : `its log says why; the last lines are below`,
      cause: lines.length > 0 ? new Error(`its last lines:\n    ${lines.join('\n    ')}`) : error,
    })
  }

  #late(process: OwnedProcess, ms: number): TrinityError {
    const lines = process.log.last(ERROR_LINES)
    return new TrinityError('engine/server', `${this.name} was not ready within ${ms / 1000} s`, {
      hint: 'large models take long to load: look into its log',
      cause: new Error(`its last lines:\n    ${lines.join('\n    ')}`),
    })
  }
}

function howEnded({ exit }: OwnedProcess): string {
  if (exit?.error) return `could not be started (${exit.error.message})`
  return exit?.signal ? `was ended by ${exit.signal}` : `ended with exit code ${exit?.code}`
}
