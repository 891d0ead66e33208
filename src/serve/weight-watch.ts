import { messageOf } from '../base/error.js'
import type { StatusBoard } from '../synchronizer/index.js'
import { takeLatest, type WeightSource } from '../synchronizer/take-latest.js'

export interface WeightWatchParts extends WeightSource {
  /** Step of the newest weights, without a look at their files, which may be large. */
  newest(): Promise<number>
  readonly board: Pick<StatusBoard, 'set' | 'clock'>
  /** `service_status_check_interval` */
  readonly intervalMs: number
  /** The trainer gives weights only to who asks for them (`explorer_driven`). */
  readonly asks: boolean
  /** Commits done, for the others. */
  step(): number
  note(text: string): void
}

/** Looks again and again for weights that the trainer has written. Whatever goes wrong with them, the server goes on. */
export class WeightWatch {
  readonly #parts: WeightWatchParts
  #version: number
  /** What was told last: a fault that stays is told once. */
  #told = ''

  constructor(parts: WeightWatchParts, version: number) {
    this.#parts = parts
    this.#version = version
  }

  get version(): number {
    return this.#version
  }

  /** Until the signal ends it. */
  async run(signal: AbortSignal): Promise<void> {
    const { board, intervalMs } = this.#parts
    while (!signal.aborted) {
      await this.#tell()
      await board.clock.sleep(intervalMs, signal)
      if (!signal.aborted) await this.look(signal)
    }
  }

  async look(signal: AbortSignal): Promise<void> {
    try {
      const newest = await this.#parts.newest()
      if (newest === this.#version) return
      // A trainer that was killed has gone back to its checkpoint, and deleted what came after it.
      const have = newest < this.#version ? -1 : this.#version
      this.#version = (await takeLatest(this.#parts, have, 'continue', signal)) ?? this.#version
      this.#told = ''
    } catch (error) {
      if (signal.aborted) return
      const text = `the server goes on with the weights of training step ${this.#version}: ${messageOf(error)}`
      if (text !== this.#told) this.#parts.note(text)
      this.#told = text
    }
  }

  async #tell(): Promise<void> {
    const { board, asks, step } = this.#parts
    const status = { step: step(), version: this.#version }
    // The status is for others: a disk that is full now must not end the server.
    await board.set({ ...status, ...(asks ? ASKING : { state: 'running' as const }) }).catch(() => {})
  }
}

const ASKING = { state: 'wants_weights' as const, waits_for: 'newer weights, while it serves those it has' }
