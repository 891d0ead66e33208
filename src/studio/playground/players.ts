import { fileURLToPath } from 'node:url'
import { Child } from '../child/child.js'
import type { AskOptions, Worker } from '../child/message.js'

/** Models in memory at once: before and after. */
const MOST = 2
const IDLE_MS = 600_000

type OpenPlayer = () => Worker & { readonly isOpen?: boolean; readonly isBusy?: boolean }

/** A process for each model, ended when nobody talks to it for a while, or when others need its place. */
export class Players {
  readonly #open: OpenPlayer
  /** The latest is the last. */
  readonly #players = new Map<string, ReturnType<OpenPlayer>>()

  constructor(open: OpenPlayer) {
    this.#open = open
  }

  /** Those that hold memory now. */
  get names(): string[] {
    return [...this.#players].flatMap(([name, { isOpen }]) => (isOpen === false ? [] : [name]))
  }

  async ask<T>(name: string, method: string, params: object, options?: AskOptions): Promise<T> {
    const player = this.#players.get(name) ?? this.#open()
    this.#players.delete(name)
    this.#players.set(name, player)
    const idle = [...this.#players].filter(([, { isBusy }]) => isBusy !== true).map(([key]) => key)
    for (const old of idle.slice(0, Math.max(0, this.#players.size - MOST))) if (old !== name) await this.end(old)
    return player.ask<T>(method, params, options)
  }

  async end(name: string): Promise<void> {
    const player = this.#players.get(name)
    this.#players.delete(name)
    await player?.close()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#players.keys()].map((name) => this.end(name)))
  }
}

export function openPlayers(pluginDirs: readonly string[]): Players {
  const file = fileURLToPath(new URL('./player-process.js', import.meta.url))
  return new Players(() => new Child({ file, args: pluginDirs, name: 'the process of the model', idleMs: IDLE_MS }))
}
