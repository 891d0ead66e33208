import { HUNGRY_MS } from './hunger.js'
import { type Peer, SILENT_MS } from './peers.js'
import { type SyncSchedule, trainerDue } from './schedule.js'
import type { StatusBoard } from './status.js'
import { WaitNote } from './wait-note.js'

/** How often a trainer that waits looks at what the explorers have written. */
const LOOK_MS = { first: 50, last: 500 }

export interface ApartTrainerParts {
  readonly schedule: SyncSchedule
  readonly board: StatusBoard
  /** Writes the weights of the step where explorers look for them. */
  write(step: number, signal: AbortSignal): Promise<void>
  /** The trainer has looked at the buffer, has found too little, and waits to look again. */
  starved(): Promise<boolean>
  note(text: string): void
}

/** A trainer whose explorers are other processes: it leaves its weights in the job directory. */
export class ApartTrainerSync {
  readonly #parts: ApartTrainerParts
  /** Failures that were told, by process. */
  readonly #told = new Set<string>()
  #step: number
  #written: number

  /** `written`: the newest weights that explorers can find already. */
  constructor(parts: ApartTrainerParts, step: number, written: number) {
    this.#parts = parts
    this.#step = step
    this.#written = written
  }

  async afterStep(step: number, signal: AbortSignal): Promise<void> {
    const { board, schedule } = this.#parts
    this.#step = step
    await board.set({ state: 'running', step })
    const due = trainerDue(schedule, step) || this.#asked(await board.others('explorer'))
    if (due) await this.#write(signal)
  }

  /** Tells again and again that it waits, so that nobody takes it for dead; gives weights to who asks for them. */
  async whileWaiting(arrived: AbortSignal): Promise<void> {
    const { board, note } = this.#parts
    const { clock } = board
    const reason = `training step ${this.#step + 1} waits for experiences`
    const said = new WaitNote(clock, note, 'explorer')
    await board.set({ state: 'wants_experiences', step: this.#step, waits_for: reason })
    let counted = clock.now()
    let hungry = false
    let pause = LOOK_MS.first
    while (!arrived.aborted) {
      const explorers = await board.others('explorer')
      if (this.#asked(explorers, hungry)) await this.#write(new AbortController().signal)
      this.#tellFailures(explorers)
      said.look(reason, explorers)
      await clock.sleep(pause, arrived)
      pause = Math.min(pause * 2, LOOK_MS.last)
      if (arrived.aborted || clock.now() - counted < HUNGRY_MS) continue
      if (!(await this.#parts.starved())) continue
      counted = clock.now()
      hungry = true
      await board.set({ hungry: board.own.hungry + 1 })
    }
    await board.set({ state: 'running' })
  }

  /**
   * An explorer says that it wants weights, and there are newer ones than it has. With `fixed` they are not due yet; but
   * where the trainer does not get on, the explorer has to, and better with these than with older ones.
   */
  #asked(explorers: readonly Peer[], hungry = false): boolean {
    const { sync_style } = this.#parts.schedule
    const answers = sync_style === 'explorer_driven' || (sync_style === 'fixed' && hungry)
    if (!answers || this.#step <= this.#written) return false
    return explorers.some(
      ({ status: { state, version }, silentMs }) =>
        state === 'wants_weights' && version < this.#step && silentMs < SILENT_MS,
    )
  }

  async #write(signal: AbortSignal): Promise<void> {
    if (this.#step <= this.#written) return
    await this.#parts.write(this.#step, signal)
    this.#written = this.#step
    await this.#parts.board.set({ version: this.#step })
  }

  #tellFailures(explorers: readonly Peer[]): void {
    for (const { status, lived } of explorers) {
      if (status.state !== 'failed' || !lived || this.#told.has(status.boot)) continue
      this.#told.add(status.boot)
      this.#parts.note(
        `explorer '${status.name}' has failed (${status.cause ?? 'no cause given'}): the trainer waits for it to come back`,
      )
    }
  }
}
