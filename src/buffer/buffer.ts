import type { Experience } from '../experience/experience.js'

/**
 * What stands between those who make experiences and those who train on them.
 *
 * Every kind keeps the same promises: what `put` has confirmed survives the death of the process wherever the kind has a
 * file or a database; no experience is handed out twice (unless replay asks for it) and none is lost; every wait has a
 * deadline and a name.
 */
export interface ExperienceBuffer {
  readonly name: string
  readonly kind: string
  /** Resolves when the experiences are stored. All of them or none. */
  put(experiences: readonly Experience[], options?: PutOptions): Promise<void>
  /**
   * Exactly `count` experiences. Only when every producer has finished it gives what is left, at last nothing.
   * Fails with `buffer/timeout` at the deadline, and has then taken nothing.
   */
  take(count: number, options?: TakeOptions): Promise<Experience[]>
  /** This producer (`explorer` unless it gave another name when putting) will put no more. */
  finish(who?: string): Promise<void>
  /** The state at this moment, as JSON for a checkpoint. */
  cut(): Promise<Cut>
  /**
   * Makes the buffer what it was at the cut: what came later is void, what was taken later is there again.
   * Without a cut: as it was before the first experience.
   */
  restore(cut: Cut | undefined): Promise<Restored>
  /**
   * Makes experiences available again that takes for training steps after `step` handed out or discarded. Returns their
   * number. Only kinds that several processes share have it: there a cut would also void what explorers put later.
   */
  releaseAfter?(step: number): Promise<number>
  state(): Promise<BufferState>
  close(): Promise<void>
}

export interface PutOptions {
  /** How long to wait for room. */
  deadlineMs?: number
  signal?: AbortSignal
  /** Who puts, as it reads in errors and in the state. */
  who?: string
  /**
   * Where the producer stands after this put, as JSON: stored together with the experiences and given back by a cut,
   * so that the producer can go on exactly behind the last experience that counts.
   */
  mark?: unknown
  /**
   * The explorer step whose experiences these are, all of them. Given, one put per step and in order, where the schedule
   * pairs the steps of both sides: a buffer with replay keeps them back until a take asks for the step.
   */
  step?: number
}

export interface TakeOptions {
  deadlineMs?: number
  /** Experiences of an older policy are thrown away. */
  minModelVersion?: number
  /**
   * With replay: waits until this explorer step is there, and chooses among the steps up to it, whatever else has come
   * already. Where these are too few, from the fewest further steps that are enough.
   */
  through?: number
  /** Training step that the experiences are for; `releaseAfter` undoes takes by it. */
  step?: number
  signal?: AbortSignal
  who?: string
}

/** Opaque, but plain JSON. */
export interface Cut {
  readonly version: 1
  readonly kind: string
  /** The producers' marks at the cut, by the name of the producer. */
  readonly marks: Readonly<Record<string, unknown>>
  readonly data: unknown
}

export interface Restored {
  /** Experiences that can be taken. */
  ready: number
  /** Experiences that came after the cut and were removed. */
  voided: number
}

export interface BufferState {
  name: string
  kind: string
  /** Experiences that can be taken, now or by the training step that they are kept back for. */
  ready: number
  /** Waiting for their cool-down. */
  cooling: number
  capacity?: number
  /** Since the buffer was opened, by this process. */
  put: number
  taken: number
  /** Too old, or pushed out by better ones. */
  discarded: number
  /** Every producer has finished. */
  finished: boolean
  /** Who waits for what, and since when. */
  waiting: Waiting[]
}

export interface Waiting {
  who: string
  reason: string
  /** On the clock of `performance.now()`. */
  sinceMs: number
}
