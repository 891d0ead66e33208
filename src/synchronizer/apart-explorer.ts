import type { InFlight } from '../engine/contract.js'
import { HungerProof } from './hunger.js'
import type { Peer } from './peers.js'
import { explorerDue, type SyncSchedule } from './schedule.js'
import { isOver, type StatusBoard } from './status.js'
import { takeLatest, type WeightSource } from './take-latest.js'
import { tooLate } from './wait.js'
import { WaitNote } from './wait-note.js'

/** How often an explorer that waits looks at what the trainer has written. */
const LOOK_MS = { first: 50, last: 500 }
/** A trainer that had ended before this process began, and has not come back in such a time, is asked after. */
const ABSENT_MS = 15_000

export interface ApartExplorerParts extends WeightSource {
  readonly schedule: SyncSchedule
  readonly board: StatusBoard
  /** `sync_timeout` */
  readonly timeoutMs: number
  /** Steps of a trainer that has got to the end asked for now: started again, it would do nothing. */
  finished(): Promise<number | undefined>
  /** The trainer will train no more: what the explorer makes is for nobody. */
  trainerEnded(step: number): void
  note(text: string): void
}

/**
 * An explorer whose trainer is another process: it takes weights from the job directory.
 *
 * No order of starts and kills makes both wait for ever. The explorer waits only here, and the trainer for nothing but
 * experiences. A trainer at work writes weights or comes to its own wait; one that waits, is alive and has too little
 * makes the explorer go on (`HungerProof`); one that is dead has to be started, and is then one of the two.
 */
export class ApartExplorerSync {
  readonly #parts: ApartExplorerParts
  /** Start of this process, on its own clock. */
  readonly #begun: number
  #version: number
  /** Process whose weights these are, as far as is known. */
  #trainerBoot = ''
  /** Training steps that the fixed style never reaches, because filters or failed rollouts left too few experiences. */
  #behind = 0
  #saidEnded = false
  /** Processes whose failure and whose hunger were told. */
  readonly #said = new Set<string>()

  constructor(parts: ApartExplorerParts, version: number) {
    this.#parts = parts
    this.#begun = parts.board.clock.now()
    this.#version = version
  }

  get version(): number {
    return this.#version
  }

  async afterStep(step: number, signal: AbortSignal): Promise<void> {
    const { schedule, board } = this.#parts
    await board.set({ state: 'running', step, version: this.#version })
    const [trainer] = await board.others('trainer')
    if (this.#ended(trainer)) return
    if (schedule.sync_style === 'fully_async') await this.#take(trainer, 'continue', signal)
    if (!explorerDue(schedule, step)) return
    if (schedule.sync_style === 'trainer_driven') await this.#take(trainer, 'finish', signal)
    else await this.#wait(step, signal)
  }

  /**
   * Takes the last weights of the trainer, after the last explorer step. Waits while a trainer may still train: not for
   * one that ended, was stopped, was not seen in the first seconds of this process, or has shown no sign of life for
   * `sync_timeout`. Resolves without the last weights if the signal fires.
   */
  async takeLast(step: number, signal: AbortSignal): Promise<void> {
    const { board, note } = this.#parts
    const said = new WaitNote(board.clock, note, 'trainer')
    const reason = `the explorer, after its last step ${step}, waits for the last weights of the trainer`
    for (let pause = LOOK_MS.first; !signal.aborted; pause = Math.min(pause * 2, LOOK_MS.last)) {
      const peers = await board.others('trainer')
      // In this order: a trainer reports its end after its last weights are in place.
      const mayTrain = await this.#mayTrain(peers[0])
      await this.#take(peers[0], 'finish', signal).catch((error) => {
        if (!signal.aborted) throw error
      })
      await board.set({ state: 'running', version: this.#version, waits_for: mayTrain ? reason : undefined })
      if (!mayTrain) return
      this.#tellFailure(peers[0])
      said.look(reason, peers)
      await board.clock.sleep(pause, signal)
    }
  }

  async #mayTrain(trainer: Peer | undefined): Promise<boolean> {
    const { board, timeoutMs, finished, note } = this.#parts
    if (trainer === undefined || (isOver(trainer.status) && !trainer.lived)) {
      const isFinished = trainer?.status.state === 'ended' && (await finished()) !== undefined
      // A trainer that is started together with a short run may be the later one.
      return !isFinished && board.clock.now() - this.#begun < ABSENT_MS
    }
    if (trainer.status.state === 'ended' || trainer.status.state === 'stopped') return false
    // A trainer that was killed, or has failed, may be started again.
    if (trainer.silentMs < timeoutMs) return true
    const seconds = Math.round(trainer.silentMs / 1000)
    note(`no sign of life of the trainer for ${seconds} s: the newest weights that it has left are evaluated`)
    return false
  }

  async #wait(step: number, signal: AbortSignal): Promise<void> {
    const { board, timeoutMs, note } = this.#parts
    const { clock } = board
    const begun = clock.now()
    const hunger = new HungerProof()
    const said = new WaitNote(clock, note, 'trainer')
    let from = this.#version
    let pause = LOOK_MS.first
    for (;;) {
      signal.throwIfAborted()
      const peers = await board.others('trainer')
      const [trainer] = peers
      // Weights of a trainer that was killed and has gone back to its checkpoint may be older than those in use.
      if (await this.#take(trainer, 'finish', signal)) from = Math.min(from, this.#version)
      const wanted = this.#wanted(step, from)
      if (this.#version >= wanted || this.#ended(trainer)) break
      if (hunger.complete(trainer?.status)) {
        this.#goOn(step, trainer)
        break
      }
      const waited = clock.now() - begun
      if (waited > ABSENT_MS && (await this.#endedBefore(trainer))) break
      const reason = `explorer step ${step} waits for the weights of training step ${wanted}`
      if (waited > timeoutMs) throw tooLate(reason, timeoutMs)
      await board.set({ state: 'wants_weights', version: this.#version, waits_for: reason })
      this.#tellFailure(trainer)
      said.look(reason, peers)
      await clock.sleep(pause, signal)
      pause = Math.min(pause * 2, LOOK_MS.last)
    }
    // What the trainer is behind, it may have made good.
    this.#behind = Math.min(this.#behind, Math.max(0, this.#due(step) - this.#version))
    await board.set({ state: 'running', version: this.#version })
  }

  #wanted(step: number, from: number): number {
    return this.#parts.schedule.sync_style === 'fixed' ? this.#due(step) - this.#behind : from + 1
  }

  /** Training step that the fixed style pairs with this explorer step. */
  #due(step: number): number {
    const { sync_offset, explorer_sync_interval, trainer_sync_interval } = this.#parts.schedule
    return Math.floor((step - sync_offset) / explorer_sync_interval) * trainer_sync_interval
  }

  /** Each waits for the other, so nothing would ever move. */
  #goOn(step: number, { status: { boot, step: trained } }: Peer): void {
    this.#behind = Math.max(0, this.#due(step) - trained)
    if (this.#said.has(`hungry ${boot}`)) return
    this.#said.add(`hungry ${boot}`)
    this.#parts.note(
      `the trainer has too few experiences for its next step: explorer step ${step} continues with the weights of training ` +
        `step ${this.#version}, now and whenever this happens again (check buffer.train_batch_size and operators that ` +
        'drop experiences)',
    )
  }

  #tellFailure(trainer: Peer | undefined): void {
    if (trainer?.status.state !== 'failed' || !trainer.lived || this.#said.has(`failed ${trainer.status.boot}`)) return
    this.#said.add(`failed ${trainer.status.boot}`)
    const cause = trainer.status.cause ?? 'no cause given'
    this.#parts.note(`the trainer has failed (${cause}): the explorer waits for it to come back`)
  }

  /**
   * Takes newer weights. A trainer that was started anew has gone back to its checkpoint: its weights are taken even
   * where they are of an earlier step; gives whether that happened.
   */
  async #take(trainer: Peer | undefined, inFlight: InFlight, signal: AbortSignal): Promise<boolean> {
    const boot = trainer?.status.boot ?? this.#trainerBoot
    const anew = boot !== this.#trainerBoot && trainer?.born === true && this.#version > 0
    this.#version = (await takeLatest(this.#parts, anew ? -1 : this.#version, inFlight, signal)) ?? this.#version
    this.#trainerBoot = boot
    return anew
  }

  #ended(trainer: Peer | undefined): boolean {
    // What an earlier process has left says nothing about this run.
    if (trainer?.status.state !== 'ended' || !trainer.lived) return false
    return this.#endedAfter(trainer.status.step)
  }

  /** The trainer got to its end while this explorer was away, and would do nothing if it were started again. */
  async #endedBefore(trainer: Peer | undefined): Promise<boolean> {
    if (trainer?.status.state !== 'ended' || trainer.lived) return false
    const step = await this.#parts.finished()
    return step !== undefined && this.#endedAfter(step)
  }

  #endedAfter(step: number): true {
    if (!this.#saidEnded) this.#parts.trainerEnded(step)
    this.#saidEnded = true
    return true
  }
}
