import { compareEids } from '../../experience/eid.js'
import type { Noise } from '../priority/noise.js'
import type { Replay } from '../replay.js'
import type { Entry, Opened, Order, SavedOrder, Wish } from './order.js'

/** Experiences that were put together and travel together. */
interface Item {
  entries: Entry[]
  priority: number
  seq: number
}

/**
 * Highest priority first, smallest id first among equals. A full queue never blocks: a new item pushes out the one of
 * the lowest priority with the smallest id, unless its own priority is lower still.
 *
 * A list that was put with its explorer step is held until a take asks for that step: what a take chooses from must not
 * depend on how far ahead the explorer happens to be.
 */
export class PriorityOrder implements Order {
  readonly #capacity: number
  readonly #replay: Replay
  readonly #noise: Noise
  readonly #now: () => number
  /** Worst first: lowest priority, and the largest id among equals. The best is at the end. */
  #items: Item[] = []
  /** Left over from an item that was larger than what was asked for. */
  #front: Entry[] = []
  /** In the order of their uses. */
  #cooling: { entries: Entry[]; dueAt: number }[] = []
  /** In the order of their steps. */
  #held: { entries: Entry[]; step: number }[] = []
  #reached = 0
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
    return this.#size + this.#front.length
  }

  get cooling(): number {
    return count(this.#cooling)
  }

  get held(): number {
    return count(this.#held)
  }

  fits(): boolean {
    return true
  }

  add(entries: Entry[], step?: number): Entry[] {
    if (step === undefined) return this.#admit(entries)
    this.#reached = Math.max(this.#reached, step)
    if (entries.length > 0) this.#held.push({ entries, step })
    return []
  }

  open({ count, through = Infinity, minModelVersion = 0, ended }: Wish): Opened {
    // Nothing is touched before the step is there: what is pushed out must not depend on who came first.
    if (through > this.#reached && through !== Infinity && !ended) return { enough: false, gone: [] }
    // The end stands behind the last step: reuse is over for the take that asks for more than there will be.
    if (ended && through > this.#reached) this.#endReuse()
    const gone = this.#thaw()
    const sift = () => {
      if (minModelVersion > 0) gone.push(...this.#discardOlder(minModelVersion))
    }
    while (this.#held.length > 0 && this.#held[0].step <= through)
      gone.push(...this.#admit(this.#held.shift()!.entries))
    sift()
    // Too few: one step more at a time, as few as will do.
    while (this.ready < count && this.#held.length > 0) {
      gone.push(...this.#admit(this.#held.shift()!.entries))
      sift()
    }
    if (this.ready >= count) return { enough: true, gone }
    if (ended) this.#endReuse()
    return { enough: ended, gone }
  }

  #admit(entries: Entry[]): Entry[] {
    if (entries.length === 0) return []
    const { experience } = entries[0]
    const { modelVersion, useCount } = experience
    const priority = this.#replay.priorityOf({ modelVersion, useCount, normal: this.#noise.of(experience) })
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
      // Equals lie largest id first, so the oldest of the lowest is the last of its run.
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
      if (isWorse(this.#items[middle], item)) low = middle + 1
      else high = middle
    }
    this.#items.splice(low, 0, item)
    this.#size += item.entries.length
  }

  take(count: number): Entry[] {
    while (this.#front.length < count && this.#items.length > 0) {
      const item = this.#items.pop()!
      this.#size -= item.entries.length
      for (const entry of item.entries) {
        entry.experience.useCount++
        this.#front.push(entry)
      }
      if (this.#reuse) this.#cooling.push({ entries: item.entries, dueAt: this.#due(this.#replay.cooldownMs) })
    }
    return this.#front.splice(0, count)
  }

  /** Without a time to wait it is the next take, whatever the clock says. */
  #due(waitMs = 0): number {
    return waitMs > 0 ? this.#now() + waitMs : 0
  }

  /** Puts back what has cooled down. Its priority is asked again, and may be none. Gives back what had to go. */
  #thaw(): Entry[] {
    if (this.#cooling.length === 0) return []
    const now = this.#now()
    const due = this.#cooling.filter((item) => item.dueAt <= now)
    this.#cooling = this.#cooling.filter((item) => item.dueAt > now)
    return due.flatMap((item) => this.#admit(item.entries))
  }

  #discardOlder(version: number): Entry[] {
    const discarded: Entry[] = []
    const sift = (entries: Entry[]): Entry[] => {
      discarded.push(...entries.filter((entry) => entry.experience.modelVersion < version))
      return entries.filter((entry) => entry.experience.modelVersion >= version)
    }
    this.#front = sift(this.#front)
    for (const item of [...this.#items, ...this.#cooling]) item.entries = sift(item.entries)
    this.#items = this.#items.filter((item) => item.entries.length > 0)
    this.#cooling = this.#cooling.filter((item) => item.entries.length > 0)
    this.#size = count(this.#items)
    return discarded
  }

  /** What is due already waits for something else: looking again would not help. */
  nextMs(): number | undefined {
    const now = this.#now()
    const later = this.#cooling.filter(({ dueAt }) => dueAt > now)
    return later.length === 0 ? undefined : Math.min(...later.map(({ dueAt }) => dueAt)) - now
  }

  #endReuse(): void {
    this.#reuse = false
    this.#cooling = []
  }

  save(): SavedOrder {
    const now = this.#now()
    const left = (dueAt: number) => Math.max(0, dueAt - now)
    return {
      items: [
        { entries: [...this.#front], state: 'front' },
        ...this.#items.map(({ entries, priority, seq }) => ({ entries, priority, seq, state: 'ready' as const })),
        ...this.#cooling.map(({ entries, dueAt }) => ({ entries, waitMs: left(dueAt), state: 'cooling' as const })),
        ...this.#held.map(({ entries, step }) => ({ entries, step, state: 'held' as const })),
      ],
      seq: this.#seq,
      reached: this.#reached,
      reuse: this.#reuse,
    }
  }

  load(saved: SavedOrder): void {
    this.#items = []
    this.#front = []
    this.#cooling = []
    this.#held = []
    this.#size = 0
    for (const { state, entries, priority = 0, seq = 0, waitMs, step = 0 } of saved.items) {
      if (state === 'front') this.#front = [...entries]
      else if (state === 'cooling') this.#cooling.push({ entries, dueAt: this.#due(waitMs) })
      else if (state === 'held') this.#held.push({ entries, step })
      else this.#insert({ entries, priority, seq })
    }
    this.#seq = saved.seq ?? 0
    this.#reached = saved.reached ?? 0
    this.#reuse = saved.reuse ?? this.#replay.cooldownMs !== undefined
  }
}

/** Versions and uses are in the priority; among equals ids decide, and only equal ids come out as they came in. */
function isWorse(a: Item, b: Item): boolean {
  if (a.priority !== b.priority) return a.priority < b.priority
  const byId = compareEids(a.entries[0].experience.eid, b.entries[0].experience.eid)
  return byId === 0 ? a.seq > b.seq : byId > 0
}

function count(lists: readonly { entries: Entry[] }[]): number {
  return lists.reduce((sum, { entries }) => sum + entries.length, 0)
}
