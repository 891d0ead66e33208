import type { Said } from './chat-model.js'
import { keysOf } from './said.js'

/** What the model really wrote, by the messages that others saw of it. */
export class Verbatim {
  readonly #raws = new Map<string, string[]>()

  set(message: Said, raw: string): void {
    for (const key of keysOf(message)) {
      const others = this.#raws.get(key)?.filter((other) => other !== raw) ?? []
      this.#raws.set(key, [raw, ...others])
    }
  }

  /** All that may stand behind a message, the latest first; empty: nothing that the model wrote. */
  get(message: Said): readonly string[] {
    for (const key of keysOf(message)) {
      const raws = this.#raws.get(key)
      if (raws) return raws
    }
    return []
  }
}
