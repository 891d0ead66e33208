import type { Entry, Opened, Order, SavedOrder, Wish } from './order.js'

/** First in, first out. */
export class FifoOrder implements Order {
  readonly #capacity: number
  readonly cooling = 0
  readonly held = 0
  #entries: Entry[] = []
  #head = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get ready(): number {
    return this.#entries.length - this.#head
  }

  /** A list larger than the whole queue goes in when the queue is empty, else it never would. */
  fits(size: number): boolean {
    return this.ready === 0 || this.ready + size <= this.#capacity
  }

  add(entries: Entry[]): Entry[] {
    for (const entry of entries) this.#entries.push(entry)
    return []
  }

  take(count: number): Entry[] {
    const taken = this.#entries.slice(this.#head, this.#head + count)
    this.#head += taken.length
    // Dropping the used front only when it is the larger half keeps taking linear in what is taken.
    if (this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head)
      this.#head = 0
    }
    return taken
  }

  /** The first ones are the first ones however far the explorer is: the step does not matter. */
  open({ count, minModelVersion = 0, ended }: Wish): Opened {
    const gone = minModelVersion > 0 ? this.#discardOlder(minModelVersion) : []
    return { enough: ended || this.ready >= count, gone }
  }

  #discardOlder(version: number): Entry[] {
    const discarded: Entry[] = []
    const kept: Entry[] = []
    for (let i = this.#head; i < this.#entries.length; i++) {
      const entry = this.#entries[i]
      if (entry.experience.modelVersion < version) discarded.push(entry)
      else kept.push(entry)
    }
    this.#entries = kept
    this.#head = 0
    return discarded
  }

  nextMs(): undefined {
    return undefined
  }

  save(): SavedOrder {
    return { items: [{ entries: this.#entries.slice(this.#head), state: 'ready' }] }
  }

  load(saved: SavedOrder): void {
    this.#entries = saved.items.flatMap((item) => item.entries)
    this.#head = 0
  }
}
