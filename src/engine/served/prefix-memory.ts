/** Tokens of a piece of a prompt. */
const PIECE = 32
/** Pieces that are remembered: the newest. */
const KEPT = 4096

/** Which beginnings of prompts a server has seen lately, and so may have in its cache. */
export class PrefixMemory {
  readonly #seen = new Set<number>()

  /** Tokens of the longest beginning that was seen. */
  known(prefix: readonly number[]): number {
    let pieces = 0
    while (pieces < prefix.length && this.#seen.has(prefix[pieces])) pieces++
    return pieces * PIECE
  }

  add(prefix: readonly number[]): void {
    for (const piece of prefix) {
      this.#seen.delete(piece)
      this.#seen.add(piece)
    }
    for (const old of this.#seen) {
      if (this.#seen.size <= KEPT) break
      this.#seen.delete(old)
    }
  }

  clear(): void {
    this.#seen.clear()
  }
}

/** A number for each whole piece of a prompt, together with everything before it (FNV-1a). */
export function prefixOf(prompt: Int32Array): number[] {
  const pieces: number[] = []
  let hash = 0x811c9dc5
  for (let i = 0; i < prompt.length; i++) {
    hash = Math.imul(hash ^ prompt[i], 0x01000193)
    hash = Math.imul(hash ^ (prompt[i] >>> 16), 0x01000193)
    if ((i + 1) % PIECE === 0) pieces.push(hash >>> 0)
  }
  return pieces
}
