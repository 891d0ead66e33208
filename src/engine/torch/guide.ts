import type { JsonObject } from '../../base/file/json-file.js'
import type { AllowedTokens } from '../contract.js'
import type { Tensors } from './connection.js'

/** Masks as a worker takes them. */
export interface MaskMessage {
  readonly args: JsonObject
  readonly tensors: Tensors
}

/** Tells a worker what the samples of a request may go on with. */
export class Guide {
  readonly #allowed: AllowedTokens
  readonly #answers: number[][]

  constructor(allowed: AllowedTokens, n: number) {
    this.#allowed = allowed
    this.#answers = Array.from({ length: n }, () => [])
  }

  /** A token that the worker has drawn. */
  take(index: number, token: number): void {
    this.#answers[index].push(token)
  }

  /** Before the next draw of these samples; of all, where none is named. */
  masks(asked: readonly number[] = [...this.#answers.keys()]): MaskMessage {
    const masks = asked.map((index) => this.#allowed(index, Int32Array.from(this.#answers[index])))
    const words = masks.filter((mask) => mask !== undefined)
    const all = new Int32Array(words.reduce((sum, mask) => sum + mask.length, 0))
    let at = 0
    for (const mask of words) {
      all.set(mask, at)
      at += mask.length
    }
    const places = asked.map((index) => [index, this.#answers[index].length])
    return { args: { places, masked: masks.map((mask) => mask !== undefined) }, tensors: { masks: all } }
  }
}
