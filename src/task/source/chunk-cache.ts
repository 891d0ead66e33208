/** Keeps the most recently used decoded pieces of a file within a budget of bytes (as measured before decoding). */
export class ChunkCache<T> {
  readonly #budget: number
  readonly #held = new Map<number, { value: Promise<T>; bytes: number }>()
  #bytes = 0

  constructor(budget: number) {
    this.#budget = budget
  }

  get(key: number, bytes: number, load: () => Promise<T>): Promise<T> {
    const held = this.#held.get(key)
    if (held) {
      this.#held.delete(key)
      this.#held.set(key, held)
      return held.value
    }
    const value = load()
    this.#held.set(key, { value, bytes })
    this.#bytes += bytes
    value.catch(() => this.#drop(key))
    for (const oldest of this.#held.keys()) {
      if (this.#bytes <= this.#budget || oldest === key) break
      this.#drop(oldest)
    }
    return value
  }

  clear(): void {
    this.#held.clear()
    this.#bytes = 0
  }

  #drop(key: number): void {
    this.#bytes -= this.#held.get(key)?.bytes ?? 0
    this.#held.delete(key)
  }
}

/** Bytes of row groups or record batches that one open file may hold decoded. */
export const CHUNK_BUDGET = 256 << 20

/** Index of the chunk that holds `row`, given each chunk's first row. */
export function chunkOf(firstRows: Float64Array, row: number): number {
  let low = 0
  let high = firstRows.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (firstRows[middle] <= row) low = middle
    else high = middle - 1
  }
  return low
}
