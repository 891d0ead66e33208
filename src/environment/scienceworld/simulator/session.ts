import { TrinityError } from '../../../base/error.js'
import { isInterrupted } from '../py4j/gateway.js'
import type { Frame, Game, Opening, Setting } from './game.js'
import type { SimulatorPool } from './pool.js'

/** An episode that is interrupted more often has a part in it, or the machine cannot do it. */
const MOST_INTERRUPTIONS = 10

/**
 * One episode after another, in whichever process. Where that ends by the fault of another episode, the one here is played
 * again up to where it was, in another process: the same actions give the same episode.
 */
export class Session {
  readonly pool: SimulatorPool
  #game: Game | undefined
  #setting: Setting | undefined
  #played: string[] = []
  #interruptions = 0
  #isClosed = false

  constructor(pool: SimulatorPool) {
    this.pool = pool
  }

  /** Begins an episode, whatever was before; `settle` may ask the simulator which. */
  begin(settle: (game: Game) => Promise<Setting>, signal?: AbortSignal): Promise<Opening> {
    this.#setting = undefined
    this.#played = []
    this.#interruptions = 0
    return this.#lasting(async () => {
      const game = await this.#seat(signal)
      const setting = await settle(game)
      const opening = await game.load(setting)
      this.#setting = setting
      return opening
    })
  }

  async step(action: string): Promise<Frame> {
    const frame = await this.#lasting(async () => (await this.#current()).step(action))
    this.#played.push(action)
    return frame
  }

  validActions(): Promise<string[]> {
    return this.#lasting(async () => (await this.#current()).validActions())
  }

  /** From the beginning of the episode to its goal. It is found at another seat, as finding it ends a game. */
  goldPath(): Promise<string[]> {
    const setting = this.#begun
    return this.#lasting(async () => {
      const game = await this.pool.take()
      try {
        return await game.goldPath(setting)
      } finally {
        this.pool.release(game)
      }
    })
  }

  /** A call that was cut off may still be on its way; the seat's next game comes after it. */
  close(): void {
    this.#isClosed = true
    this.#leave()
  }

  get #begun(): Setting {
    if (this.#setting) return this.#setting
    throw notReset()
  }

  /** The episode's game as it stands, played again where its process is gone. */
  async #current(): Promise<Game> {
    const setting = this.#begun
    if (this.#game?.simulator.isAlive) return this.#game
    const game = await this.#seat()
    await game.load(setting)
    for (const action of this.#played) await game.step(action)
    return game
  }

  /** The seat of the last episode, if it is still there. */
  async #seat(signal?: AbortSignal): Promise<Game> {
    if (this.#game?.simulator.isAlive) return this.#game
    this.#leave()
    const game = await this.pool.take(signal)
    this.#game = game
    if (!this.#isClosed) return game
    this.#leave()
    throw new TrinityError('environment/closed', 'ScienceWorld was closed')
  }

  async #lasting<T>(call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (isInterrupted(error) && this.#interruptions++ < MOST_INTERRUPTIONS) continue
        // there is nothing to go on with
        if (!this.#game?.simulator.isAlive) this.#setting = undefined
        throw error
      }
    }
  }

  #leave(): void {
    if (this.#game) this.pool.release(this.#game)
    this.#game = undefined
  }
}

export function notReset(): TrinityError {
  return new TrinityError('environment/order', 'ScienceWorld is asked before it is reset', { hint: 'call reset first' })
}
