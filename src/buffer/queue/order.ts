import type { Experience } from '../../experience/experience.js'

/** An experience in a queue, with the place where the queue also keeps it. */
export interface Entry {
  experience: Experience
  /** Undefined: kept in memory only. */
  row?: number
}

/** In which order a queue hands out what it holds. */
export interface Order {
  /** Experiences that can be taken now. */
  readonly ready: number
  readonly cooling: number
  /** Whether a list of this size can go in now. */
  fits(size: number): boolean
  /** Gives back what had to go: the list itself when it is not wanted. */
  add(entries: Entry[]): Entry[]
  /** `count` entries, or all there are. */
  take(count: number): Entry[]
  /** Removes and gives back what was made by an older policy. */
  discardOlder(version: number): Entry[]
  /** Milliseconds until something cooling becomes ready. */
  nextMs(): number | undefined
  /** Nothing will be taken a second time any more. */
  endReuse(): void
  /** Everything held, and how it stands, for a cut. */
  save(): SavedOrder
  load(saved: SavedOrder): void
}

export interface SavedOrder {
  items: SavedItem[]
  /** Next sequence number and noise drawn, of a priority order. */
  seq?: number
  noise?: number
}

export interface SavedItem {
  entries: Entry[]
  /** `front`: left over from a list that was split. */
  state: 'ready' | 'front' | 'cooling'
  priority?: number
  seq?: number
  waitMs?: number
}
