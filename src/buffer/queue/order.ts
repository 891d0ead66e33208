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
  /** There, but of explorer steps that no take has asked for yet. */
  readonly held: number
  /** Whether a list of this size can go in now. */
  fits(size: number): boolean
  /** Gives back what had to go: the list itself when it is not wanted. `step`: see PutOptions. */
  add(entries: Entry[], step?: number): Entry[]
  /** Makes ready what a take may choose from. The same however often it is called before the take. */
  open(wish: Wish): Opened
  /** `count` entries, or all there are. */
  take(count: number): Entry[]
  /** Milliseconds until something cooling becomes ready. */
  nextMs(): number | undefined
  /** Everything held, and how it stands, for a cut. */
  save(): SavedOrder
  load(saved: SavedOrder): void
}

/** What a take asks for. */
export interface Wish {
  count: number
  /** See TakeOptions. */
  through?: number
  minModelVersion?: number
  /** No put will follow. */
  ended: boolean
}

export interface Opened {
  /** The take can be made now. */
  enough: boolean
  /** What had to go: too old, or pushed out. */
  gone: Entry[]
}

export interface SavedOrder {
  items: SavedItem[]
  /** Of a priority order: next sequence number, last explorer step that was put, whether items are used again. */
  seq?: number
  reached?: number
  reuse?: boolean
}

export interface SavedItem {
  entries: Entry[]
  /** `front`: left over from a list that was split. `held`: of a later explorer step. */
  state: 'ready' | 'front' | 'cooling' | 'held'
  priority?: number
  seq?: number
  waitMs?: number
  step?: number
}
