import { ApartExplorerSync, ApartTrainerSync, StatusBoard, type SyncSchedule } from '../../src/synchronizer/index.js'
import { Mortal, type World } from './world.js'

export interface JobOptions {
  readonly schedule: SyncSchedule
  /** Explorer steps. */
  readonly steps: number
  /** Experiences of an explorer step, and needed by a training step. */
  readonly made: number
  readonly needed: number
  readonly saveEvery: number
  /** How long a step of each side takes at most. */
  readonly slowMs: { readonly explorer: number; readonly trainer: number }
  readonly timeoutMs: number
}

const END = new Error('the trainer has ended')

/** A job of a trainer and explorers in a simulated world: what is on its disk, and its processes as they would run. */
export class SimulatedJob {
  readonly #world: World
  readonly #options: JobOptions
  /** In the database. */
  ready = 0
  readonly producers = new Map<string, { step: number; finished: boolean }>()
  /** In the job directory. `life`: which trainer wrote the weights. */
  weights = { step: 0, life: 0 }
  saved = { step: 0, life: 0 }
  finished: number | undefined
  lives = 0
  readonly running = new Map<string, Mortal>()
  readonly done = new Set<string>()
  readonly errors: unknown[] = []
  /** Weights with which each explorer ended. */
  readonly lastVersions = new Map<string, number>()
  /** Explorers that went on without the weights they waited for. */
  readonly ahead: { name: string; ready: number; trainerGoneMs: number }[] = []
  mostReady = 0
  #trainerSeen = 0

  constructor(world: World, options: JobOptions) {
    this.#world = world
    this.#options = options
  }

  start(name: string): void {
    if (this.running.has(name) || this.done.has(name)) return
    const self = new Mortal(this.#world)
    this.running.set(name, self)
    const work = name === 'trainer' ? this.#trainer(self) : this.#explorer(self, name)
    work
      .catch((error) => void this.errors.push(error))
      .then(() => {
        this.running.delete(name)
        this.done.add(name)
      })
  }

  kill(name: string): void {
    const victim = this.running.get(name)
    if (!victim) return
    if (name === 'trainer') this.#trainerSeen = this.#world.now
    victim.dead = true
    this.running.delete(name)
  }

  async #trainer(self: Mortal): Promise<void> {
    if (this.finished !== undefined) return
    const { schedule, needed, saveEvery, slowMs } = this.#options
    const { clock, store } = self
    const life = ++this.lives
    let { step } = this.saved
    const board = await StatusBoard.open({ store, clock, role: 'trainer', name: 'trainer', step, version: step })
    let asleep = false
    const write = async (at: number) => {
      await clock.sleep(this.#world.between(1, 300))
      this.weights = { step: at, life }
    }
    const sync = new ApartTrainerSync(
      { schedule, board, note: () => {}, write, starved: async () => asleep },
      step,
      step,
    )
    await clock.sleep(this.#world.between(0, 3000))
    this.weights = this.saved
    await board.set({ state: 'running' })
    for (;;) {
      const arrived = new AbortController()
      const moving = sync.whileWaiting(arrived.signal)
      while (this.ready < needed && !this.#allFinished()) {
        asleep = true
        await clock.sleep(250)
        asleep = false
        await clock.sleep(this.#world.between(0, 20))
      }
      const batch = this.ready >= needed
      if (batch) this.ready -= needed
      arrived.abort()
      await moving
      if (!batch) break
      await clock.sleep(this.#world.between(1, slowMs.trainer))
      await sync.afterStep(++step, arrived.signal)
      if (step % saveEvery === 0) this.#save(step, life)
    }
    if (step > 0) this.#save(step, life)
    await board.set({ state: 'ended', step })
    await clock.sleep(this.#world.between(0, 200))
    this.finished = step
    this.#trainerSeen = this.#world.now
  }

  #save(step: number, life: number): void {
    this.saved = { step, life }
    this.weights = { step, life }
  }

  #allFinished(): boolean {
    return this.producers.size > 0 && [...this.producers.values()].every(({ finished }) => finished)
  }

  async #explorer(self: Mortal, name: string): Promise<void> {
    const { schedule, steps, made, slowMs, timeoutMs } = this.#options
    const { clock, store } = self
    const board = await StatusBoard.open({ store, clock, role: 'explorer', name })
    await clock.sleep(this.#world.between(0, 3000))
    const over = new AbortController()
    const sync = new ApartExplorerSync(
      {
        schedule,
        board,
        timeoutMs,
        note: () => {},
        latest: async () => ({ ...this.weights, path: '', full: false }),
        load: () => clock.sleep(this.#world.between(1, 100)),
        finished: async () => this.finished,
        trainerEnded: () => over.abort(END),
      },
      this.weights.step,
    )
    const mark = this.producers.get(name) ?? { step: 0, finished: false }
    this.producers.set(name, mark)
    mark.finished = false
    await board.set({ state: 'running' })
    const afterStep = this.#watched(name, sync, over.signal)
    try {
      if (mark.step >= steps) mark.finished = true
      if (mark.step > 0) await afterStep(mark.step)
      while (mark.step < steps) {
        over.signal.throwIfAborted()
        await clock.sleep(this.#world.between(1, slowMs.explorer))
        this.ready += made
        this.mostReady = Math.max(this.mostReady, this.ready)
        mark.step++
        await clock.sleep(this.#world.between(0, 5))
        if (mark.step >= steps) mark.finished = true
        await afterStep(mark.step)
      }
    } catch (error) {
      if (error !== END) throw error
    }
    await sync.takeLast(mark.step, new AbortController().signal)
    this.lastVersions.set(name, sync.version)
    mark.finished = true
    await board.set({ state: 'ended', step: mark.step })
  }

  /** Writes down where the explorer of a fixed schedule has gone on without the weights it waited for. */
  #watched(name: string, sync: ApartExplorerSync, signal: AbortSignal): (step: number) => Promise<void> {
    const { sync_style, sync_offset, explorer_sync_interval, trainer_sync_interval } = this.#options.schedule
    let behind = 0
    return async (step) => {
      await sync.afterStep(step, signal)
      const rounds = (step - sync_offset) / explorer_sync_interval
      if (sync_style !== 'fixed' || signal.aborted || rounds < 1 || !Number.isInteger(rounds)) return
      const lacks = Math.max(0, rounds * trainer_sync_interval - sync.version)
      if (lacks > behind) {
        const trainerGoneMs = this.running.has('trainer') ? 0 : this.#world.now - this.#trainerSeen
        this.ahead.push({ name, ready: this.ready, trainerGoneMs })
      }
      behind = lacks
    }
  }
}
