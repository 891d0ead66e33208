import type { InFlight } from '../engine/contract.js'
import { explorerDue, type SyncSchedule, trainerDue } from './schedule.js'
import { NamedWait } from './wait.js'

/** How one version of the weights gets to the samplers. */
export type Transfer = (version: number, inFlight: InFlight, signal: AbortSignal) => Promise<void>

export interface SynchronizerParts {
  schedule: SyncSchedule
  /** `sync_timeout` */
  timeoutMs: number
  transfer: Transfer
  /** The next training step needs more experiences than the buffer holds. Only asked while the explorer stands still. */
  starved(): Promise<boolean>
  /** The explorer cannot put what it has: the buffer is full until the trainer takes something. */
  blocked(): Promise<boolean>
  note(text: string): void
}

/** What a checkpoint keeps. */
export interface SyncState {
  /** Training step whose weights the samplers have. */
  version: number
  /** Explorer step whose sync point is behind us. */
  answeredAt: number
  /** Newest training step that is due to be given. */
  offered: number
}

/** How often a waiting side looks whether the other one can ever come. */
const LOOK_MS = 100

/**
 * Decides when new weights go from trainer to samplers, for an explorer and a trainer in one process.
 *
 * A transfer is always made from the trainer's side, between two of its steps or while it waits for experiences, so it
 * never reads weights that are being changed. Except in `fully_async` it is made while the explorer stands at one of its
 * sync points with no request in flight; hence `fixed` gives the same numbers however fast the two sides are.
 */
export class Synchronizer {
  readonly #parts: SynchronizerParts
  /** The explorer stands at a sync point. */
  readonly #explorer: NamedWait
  /** The trainer waits for the explorer to get there. */
  readonly #trainer: NamedWait
  #version: number
  #answeredAt: number
  /** Newest training step that is due to be given. What is given is what the trainer has at that moment. */
  #offered: number
  #trainerStep: number
  #explorerStep: number
  #explorerEnded = false
  #trainerEnded = false
  #trainerStarving = false
  #saidStarving = false
  #lookAgain: (() => void) | undefined

  /** `trainerStep`: training steps that were done before a restart. */
  constructor(parts: SynchronizerParts, state: SyncState = { version: 0, answeredAt: 0, offered: 0 }, trainerStep = 0) {
    this.#parts = parts
    this.#version = state.version
    this.#offered = state.offered
    this.#trainerStep = trainerStep
    this.#answeredAt = state.answeredAt
    this.#explorerStep = state.answeredAt
    this.#explorer = new NamedWait(parts.timeoutMs)
    this.#trainer = new NamedWait(parts.timeoutMs)
  }

  /** Version of the samplers' weights. */
  get version(): number {
    return this.#version
  }

  state(): SyncState {
    return { version: this.#version, answeredAt: this.#answeredAt, offered: this.#offered }
  }

  /** Who waits for whom, for people. */
  waiting(): string[] {
    return [this.#explorer.reason, this.#trainer.reason].filter((reason) => reason !== undefined)
  }

  // ------------------------------------------------------------------------------------------------ explorer's side

  /** Called when everything of a step is in the buffer; returns when the next step may begin. */
  async explorerAfterStep(step: number, signal: AbortSignal): Promise<void> {
    this.#explorerStep = step
    if (step <= this.#answeredAt || !explorerDue(this.#parts.schedule, step)) return
    const nothingNew = this.#parts.schedule.sync_style === 'trainer_driven' && this.#offered === this.#version
    if (!this.#trainerEnded && !nothingNew) {
      await this.#standStill(`explorer step ${step} waits for weights of the trainer`, signal)
    }
    this.#answeredAt = step
  }

  /** No step will follow. Returns when the trainer has ended and the samplers have its last weights. */
  async explorerEnded(signal: AbortSignal): Promise<void> {
    this.#explorerEnded = true
    this.#trainer.release()
    if (!this.#trainerEnded) await this.#standStill('the explorer waits for the last weights of the trainer', signal)
  }

  // ------------------------------------------------------------------------------------------------- trainer's side

  /** Called after every training step, before its checkpoint. */
  async trainerAfterStep(step: number, signal: AbortSignal): Promise<void> {
    const { sync_style: style } = this.#parts.schedule
    this.#trainerStep = step
    const due = trainerDue(this.#parts.schedule, step)
    if (due || style === 'explorer_driven') this.#offered = step
    if (style === 'fully_async') return due ? this.#give('continue', signal) : undefined
    if (style === 'fixed' && !due) return
    if (style === 'fixed') await this.#explorerAtSyncPoint(step, signal)
    if (!this.#explorerEnded) await this.#serve(signal)
  }

  /** Runs beside the trainer's wait for experiences, until the signal says that they have come. */
  async trainerWaits(arrived: AbortSignal): Promise<void> {
    this.#trainerStarving = true
    let timer: NodeJS.Timeout | undefined
    // One listener for all rounds: a wait can be long.
    const look = () => this.#lookAgain?.()
    arrived.addEventListener('abort', look, { once: true })
    try {
      while (!arrived.aborted) {
        await this.#answerStarvation()
        if (arrived.aborted) return
        await new Promise<void>((resolve) => {
          this.#lookAgain = resolve
          timer = setTimeout(resolve, LOOK_MS)
        })
        clearTimeout(timer)
      }
    } finally {
      arrived.removeEventListener('abort', look)
      this.#trainerStarving = false
      this.#lookAgain = undefined
    }
  }

  /** No training step will follow `step`. */
  async trainerEnded(step: number, signal: AbortSignal): Promise<void> {
    this.#trainerEnded = true
    this.#trainerStep = step
    this.#offered = step
    await this.#serve(signal)
  }

  /** Gives the samplers the last weights, when nothing is being sampled any more. */
  async giveLast(signal: AbortSignal): Promise<void> {
    if (this.#trainerStep > this.#version) await this.#give('finish', signal)
  }

  // --------------------------------------------------------------------------------------------------------- inside

  async #standStill(what: string, signal: AbortSignal): Promise<void> {
    const standing = this.#explorer.wait(what, signal)
    this.#trainer.release()
    this.#lookAgain?.()
    await standing
  }

  /** Gives weights to an explorer at its sync point, or lets it go on with what it has when there is nothing new. */
  async #serve(signal: AbortSignal): Promise<void> {
    if (this.#explorer.reason === undefined) return
    if (this.#offered > this.#version) await this.#give('finish', signal)
    // Said here and not by the explorer when it wakes up: a checkpoint may be written before that.
    this.#answeredAt = this.#explorerStep
    this.#explorer.release()
  }

  async #give(inFlight: InFlight, signal: AbortSignal): Promise<void> {
    const version = this.#trainerStep
    await this.#parts.transfer(version, inFlight, signal)
    this.#version = version
  }

  /** Each waits for the other, so nothing would ever move: the explorer goes on, with newer weights if there are any. */
  async #answerStarvation(): Promise<void> {
    if (this.#explorer.reason === undefined || this.#explorerEnded) return
    if (this.#parts.schedule.sync_style === 'fixed') {
      if (!(await this.#parts.starved()) || !this.#trainerStarving || this.#explorer.reason === undefined) return
      if (!this.#saidStarving) this.#parts.note(starving(this.#explorerStep))
      this.#saidStarving = true
    }
    await this.#serve(new AbortController().signal)
  }

  /** Waits for the explorer, unless it has ended or cannot come before the trainer has taken something. */
  async #explorerAtSyncPoint(step: number, signal: AbortSignal): Promise<void> {
    if (this.#explorer.reason !== undefined || this.#explorerEnded) return
    const look = setInterval(async () => {
      if (await this.#parts.blocked()) this.#trainer.release()
    }, LOOK_MS)
    try {
      await this.#trainer.wait(`training step ${step} waits for the explorer to take its weights`, signal)
    } finally {
      clearInterval(look)
    }
  }
}

/** What a person should know when the two sides have waited for each other. */
function starving(step: number): string {
  return (
    `the next training step needs more experiences than the explorer had made by its step ${step}: it continues with the ` +
    'weights it has, now and whenever this happens again (check buffer.train_batch_size and operators that drop experiences)'
  )
}
