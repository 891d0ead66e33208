import type { Replay } from '../config.js'
import type { Noise } from '../priority/noise.js'
import type { Entry, Order, SavedOrder } from './order.js'

/** Experiences that were put together and travel together. */
interface Item {
  entries: Entry[]
  priority: number
  seq: number
}

/**
 * Highest priority first, first in first out among equals. A full queue never blocks: a new item pushes out the oldest of
 * the lowest priority, unless its own is lower still.
 */
export class PriorityOrder implements Order {
  readonly #capacity: number
  readonly #replay: Replay
  readonly #noise: Noise
  readonly #now: () => number
  /** Worst first: lowest priority, and the youngest among equals. The best is at the end. */
  #items: Item[] = []
  /** Left over from an item that was larger than what was asked for. */
  #front: Entry[] = []
  #cooling: { entries: Entry[]; dueAt: number }[] = []
  #size = 0
  #seq = 0
  #reuse: boolean

  constructor(capacity: number, replay: Replay, noise: Noise, now: () => number = Date.now) {
    this.#capacity = capacity
    this.#replay = replay
    this.#noise = noise
    this.#now = now
    this.#reuse = replay.cooldownMs !== undefined
  }

  get ready(): number {
    this.#thaw()
    return this.#size + this.#front.length
  }

  get cooling(): number {
    return this.#cooling.reduce((sum, item) => sum + item.entries.length, 0)
  }

  fits(): boolean {
    return true
  }

  add(entries: Entry[]): Entry[] {
    const first = entries[0].experience
    const priority = this.#replay.priorityOf({
      modelVersion: first.modelVersion,
      useCount: first.useCount,
      normal: this.#noise.next,
    })
    if (priority === undefined) return entries
    const pushedOut = this.#makeRoom(entries.length, priority)
    if (pushedOut === undefined) return entries
    this.#insert({ entries, priority, seq: this.#seq++ })
    return pushedOut
  }

  /** Undefined: there is no room for this priority. */
  #makeRoom(size: number, priority: number): Entry[] | undefined {
    let room = this.#capacity - this.#size
    if (room >= size) return []
    const victims: Item[] = []
    const left = [...this.#items]
    while (room < size && left.length > 0) {
      const lowest = left[0].priority
      if (lowest > priority) return undefined
      // Equals lie youngest first, so the oldest of the lowest is the last of its run.
      let oldest = 0
      while (oldest + 1 < left.length && left[oldest + 1].priority === lowest) oldest++
      const [victim] = left.splice(oldest, 1)
      victims.push(victim)
      room += victim.entries.length
    }
    this.#items = left
    for (const victim of victims) this.#size -= victim.entries.length
    return victims.flatMap((victim) => victim.entries)
  }

  #insert(item: Item): void {
    let low = 0
    let high = this.#items.length
    while (low < high) {
      const middle = (low + high) >> 1
      const other = this.#items[middle]
      const before = other.priority < item.priority || (other.priority === item.priority && other.seq > item.seq)
      if (before) low = middle + 1
      else high = middle
    }
    this.#items.splice(low, 0, item)
    this.#size += item.entries.length
  }

  take(count: number): Entry[] {
    this.#thaw()
    while (this.#front.length < count && this.#items.length > 0) {
      const item = this.#items.pop()!
      this.#size -= item.entries.length
      for (const entry of item.entries) {
        entry.experience.useCount++
        this.#front.push(entry)
      }
      if (this.#reuse) {
        this.#cooling.push({ entries: item.entries, dueAt: this.#now() + (this.#replay.cooldownMs ?? 0) })
      }
    }
    return this.#front.splice(0, count)
  }

  /** Puts back what has cooled down. Its priority is asked again, and may be none. */
  #thaw(): void {
    if (this.#cooling.length === 0) return
    const now = this.#now()
    const due = this.#cooling.filter((item) => item.dueAt <= now)
    if (due.length === 0) return
    this.#cooling = this.#cooling.filter((item) => item.dueAt > now)
    for (const item of due) this.add(item.entries)
  }

  discardOlder(version: number): Entry[] {
    const discarded: Entry[] = []
    const sift = (entries: Entry[]): Entry[] => {
      discarded.push(...entries.filter((entry) => entry.experience.modelVersion < version))
      return entries.filter((entry) => entry.experience.modelVersion >= version)
    }
    this.#front = sift(this.#front)
    for (const item of [...this.#items, ...this.#cooling]) item.entries = sift(item.entries)
    this.#items = this.#items.filter((item) => item.entries.length > 0)
    this.#cooling = this.#cooling.filter((item) => item.entries.length > 0)
    this.#size = this.#items.reduce((sum, item) => sum + item.entries.length, 0)
    return discarded
  }

  nextMs(): number | undefined {
    if (this.#cooling.length === 0) return undefined
    return Math.max(0, Math.min(...this.#cooling.map((item) => item.dueAt)) - this.#now())
  }

  endReuse(): void {
    this.#reuse = false
    this.#cooling = []
  }

  save(): SavedOrder {
    const now = this.#now()
    return {
      items: [
        { entries: [...this.#front], state: 'front' },
        ...this.#items.map(({ entries, priority, seq }) => ({ entries, priority, seq, state: 'ready' as const })),
        ...this.#cooling.map(({ entries, dueAt }) => ({ entries, waitMs: dueAt - now, state: 'cooling' as const })),
      ],
      seq: this.#seq,
      noise: this.#noise.drawn,
    }
  }

  load(saved: SavedOrder): void {
    this.#items = []
    this.#front = []
    this.#cooling = []
    this.#size = 0
    for (const item of saved.items) {
      if (item.state === 'front') this.#front = [...item.entries]
      else if (item.state === 'cooling') {
        this.#cooling.push({ entries: item.entries, dueAt: this.#now() + (item.waitMs ?? 0) })
      } else this.#insert({ entries: item.entries, priority: item.priority ?? 0, seq: item.seq ?? 0 })
    }
    this.#seq = saved.seq ?? 0
    this.#noise.drawn = saved.noise ?? 0
    this.#reuse = this.#replay.cooldownMs !== undefined
  }
}
