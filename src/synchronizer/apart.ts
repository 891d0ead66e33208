import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, TrinityError } from '../base/error.js'
import type { SavedWeights } from '../checkpoint/index.js'
import type { InFlight } from '../engine/contract.js'
import { explorerDue, type SyncSchedule, trainerDue } from './schedule.js'
import type { RoleStatus, StatusBoard } from './status.js'
import { starving } from './synchronizer.js'
import { tooLate } from './wait.js'

/** How often one process looks at what the other has written. */
const LOOK_MS = { first: 50, last: 1000 }
/** A trainer that has wanted experiences for so long, with nothing new to take, will not get on by itself. */
const STARVING_MS = 1500

interface Common {
  readonly schedule: SyncSchedule
  readonly board: StatusBoard
  note(text: string): void
}

// ---------------------------------------------------------------------------------------------------- trainer's side

export interface ApartTrainerParts extends Common {
  /** Writes the weights of the step where explorers look for them. */
  write(step: number, signal: AbortSignal): Promise<void>
}

/** A trainer whose explorers are other processes: it leaves its weights in the job directory. */
export class ApartTrainerSync {
  readonly #parts: ApartTrainerParts
  readonly #told = new Set<string>()
  readonly #begun: number
  #step: number
  #written: number

  /** `written`: the newest weights that explorers can find already. */
  constructor(parts: ApartTrainerParts, step: number, written: number) {
    this.#parts = parts
    this.#begun = parts.board.own.at
    this.#step = step
    this.#written = written
  }

  async afterStep(step: number, signal: AbortSignal): Promise<void> {
    this.#step = step
    await this.#parts.board.set({ state: 'running', step })
    if (trainerDue(this.#parts.schedule, step) || (await this.#asked())) await this.#write(signal)
  }

  async whileWaiting(arrived: AbortSignal): Promise<void> {
    await this.#parts.board.set({ state: 'wants_experiences', step: this.#step })
    let pause = LOOK_MS.first
    while (!arrived.aborted) {
      if (await this.#asked()) await this.#write(new AbortController().signal)
      await this.#reportFailures()
      await sleep(pause, undefined, { signal: arrived }).catch(() => {})
      pause = Math.min(pause * 2, LOOK_MS.last)
    }
    await this.#parts.board.set({ state: 'running' })
  }

  /** With `explorer_driven` an explorer says that it wants weights, and there are newer ones than it has. */
  async #asked(): Promise<boolean> {
    if (this.#parts.schedule.sync_style !== 'explorer_driven' || this.#step <= this.#written) return false
    const explorers = await this.#parts.board.others('explorer')
    return explorers.some(({ state, version }) => state === 'wants_weights' && version < this.#step)
  }

  async #write(signal: AbortSignal): Promise<void> {
    if (this.#step <= this.#written) return
    await this.#parts.write(this.#step, signal)
    this.#written = this.#step
    await this.#parts.board.set({ version: this.#step })
  }

  async #reportFailures(): Promise<void> {
    for (const { name, state, at, cause } of await this.#parts.board.others('explorer')) {
      if (state !== 'failed' || at < this.#begun || this.#told.has(`${name} ${at}`)) continue
      this.#told.add(`${name} ${at}`)
      this.#parts.note(
        `explorer '${name}' has failed (${cause ?? 'no cause given'}): the trainer waits for it to come back`,
      )
    }
  }
}

// --------------------------------------------------------------------------------------------------- explorer's side

export interface ApartExplorerParts extends Common {
  /** `sync_timeout` */
  readonly timeoutMs: number
  latest(): Promise<SavedWeights | undefined>
  load(weights: SavedWeights, inFlight: InFlight, signal: AbortSignal): Promise<void>
  /** The trainer will train no more: what the explorer makes is for nobody. */
  trainerEnded(step: number): void
}

/** Weights that vanish while they are read, one after the other, are not a slow reader any more. */
const MOST_TRIES = 10

/**
 * Loads the newest weights if they are newer than `have`; gives their step. A trainer at work deletes what is no longer
 * among the newest, even under the hands of a slow reader: then the newer ones that are in its place are loaded instead.
 */
export async function takeLatest(
  { latest, load }: Pick<ApartExplorerParts, 'latest' | 'load'>,
  have: number,
  inFlight: InFlight,
  signal: AbortSignal,
): Promise<number | undefined> {
  let failed: { step: number; error: unknown } | undefined
  for (let tries = 1; ; tries++) {
    const weights = await latest()
    if (!weights || weights.step <= have) {
      if (failed) throw unreadable(failed.step, failed.error)
      return undefined
    }
    try {
      await load(weights, inFlight, signal)
      return weights.step
    } catch (error) {
      signal.throwIfAborted()
      // Weights that stay where they are and cannot be read twice are broken.
      if (failed?.step === weights.step || tries === MOST_TRIES) throw unreadable(weights.step, error, weights.path)
      failed = { step: weights.step, error }
    }
  }
}

function unreadable(step: number, cause: unknown, path?: string): TrinityError {
  const message = `the weights of training step ${step} cannot be loaded: ${messageOf(cause)}`
  return new TrinityError('sync/load', message, { path, cause })
}

/** An explorer whose trainer is another process: it takes weights from the job directory. */
export class ApartExplorerSync {
  readonly #parts: ApartExplorerParts
  readonly #begun: number
  #version: number
  #saidEnded = false
  #saidFailed = 0
  #saidStarving = false

  constructor(parts: ApartExplorerParts, version: number) {
    this.#parts = parts
    this.#begun = parts.board.own.at
    this.#version = version
  }

  get version(): number {
    return this.#version
  }

  async afterStep(step: number, signal: AbortSignal): Promise<void> {
    const { schedule, board } = this.#parts
    await board.set({ state: 'running', step, version: this.#version })
    if (await this.#ended()) return
    if (schedule.sync_style === 'fully_async') return this.#take('continue', signal)
    if (!explorerDue(schedule, step)) return
    if (schedule.sync_style === 'trainer_driven') return this.#take('finish', signal)
    const wanted = schedule.sync_style === 'fixed' ? this.#due(step) : this.#version + 1
    await this.#waitFor(wanted, step, signal)
  }

  /** Training step that the fixed style pairs with this explorer step. */
  #due(step: number): number {
    const { sync_offset, explorer_sync_interval, trainer_sync_interval } = this.#parts.schedule
    return Math.floor((step - sync_offset) / explorer_sync_interval) * trainer_sync_interval
  }

  async #waitFor(wanted: number, step: number, signal: AbortSignal): Promise<void> {
    const { board, timeoutMs } = this.#parts
    const reason = `explorer step ${step} waits for the weights of training step ${wanted}`
    const begun = Date.now()
    let pause = LOOK_MS.first
    for (;;) {
      signal.throwIfAborted()
      await this.#take('finish', signal)
      if (this.#version >= wanted || (await this.#ended()) || (await this.#goOn(begun, step))) break
      if (board.own.state !== 'wants_weights') await board.set({ state: 'wants_weights' })
      if (Date.now() - begun > timeoutMs) throw tooLate(reason, timeoutMs)
      await sleep(pause, undefined, { signal })
      pause = Math.min(pause * 2, LOOK_MS.last)
    }
    await board.set({ state: 'running', version: this.#version })
  }

  /** The trainer itself waits for experiences, and has for a while: waiting for it would never end. */
  async #goOn(begun: number, step: number): Promise<boolean> {
    const trainer = await this.#trainer()
    if (trainer?.state === 'failed' && trainer.at >= this.#begun && trainer.at !== this.#saidFailed) {
      this.#saidFailed = trainer.at
      this.#parts.note(
        `the trainer has failed (${trainer.cause ?? 'no cause given'}): the explorer waits for it to come back`,
      )
    }
    if (trainer?.state !== 'wants_experiences' || trainer.at < this.#begun) return false
    const now = Date.now()
    if (now - Math.max(trainer.at, begun) < STARVING_MS) return false
    if (this.#parts.schedule.sync_style === 'fixed' && !this.#saidStarving) this.#parts.note(starving(step))
    this.#saidStarving = true
    return true
  }

  async #take(inFlight: InFlight, signal: AbortSignal): Promise<void> {
    this.#version = (await takeLatest(this.#parts, this.#version, inFlight, signal)) ?? this.#version
  }

  async #ended(): Promise<boolean> {
    const trainer = await this.#trainer()
    if (trainer?.state !== 'ended' || trainer.at < this.#begun) return false
    if (!this.#saidEnded) this.#parts.trainerEnded(trainer.step)
    this.#saidEnded = true
    return true
  }

  async #trainer(): Promise<RoleStatus | undefined> {
    return (await this.#parts.board.others('trainer'))[0]
  }
}
