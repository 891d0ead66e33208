import type { Part } from './answer.js'

/** A block of an answer begins, goes on with some text (of a call: its arguments), and ends. */
export type BlockEvent =
  | { readonly type: 'begin'; readonly index: number; readonly part: Part }
  | { readonly type: 'delta'; readonly index: number; readonly part: Part; readonly text: string }
  | { readonly type: 'end'; readonly index: number; readonly part: Part }

/** Cuts parts as they come into blocks, for dialects that announce each of them. */
export class Blocks {
  #open: Part | undefined
  #index = -1

  push(part: Part): BlockEvent[] {
    if (part.type === 'call') {
      return [...this.end(), this.#begin(part), this.#delta(part, part.call.arguments), ...this.end()]
    }
    const open = this.#open
    if (open?.type !== part.type) return [...this.end(), this.#begin({ ...part, text: '' }), ...this.push(part)]
    const grown = { ...part, text: open.text + part.text }
    this.#open = grown
    return [this.#delta(grown, part.text)]
  }

  /** Ends the block that is open. */
  end(): BlockEvent[] {
    const part = this.#open
    this.#open = undefined
    return part ? [{ type: 'end', index: this.#index, part }] : []
  }

  #begin(part: Part): BlockEvent {
    this.#open = part
    this.#index++
    return { type: 'begin', index: this.#index, part }
  }

  #delta(part: Part, text: string): BlockEvent {
    return { type: 'delta', index: this.#index, part, text }
  }
}
