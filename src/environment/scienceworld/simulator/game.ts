import { call } from '../py4j/command.js'
import type { JavaReference, JavaValue } from '../py4j/value.js'
import type { Seat, Simulator } from './simulator.js'

/** Which world is made. */
export interface Setting {
  readonly task: string
  readonly variation: number
  /** `easy`, or names with commas. */
  readonly simplifications: string
}

/** What the simulator says after a step. */
export interface Frame {
  readonly observation: string
  /** From 0 to 1; below 0 after a mistake that cannot be made good. */
  readonly score: number
  readonly isCompleted: boolean
  /** The time of the world, which waiting advances by more than one. */
  readonly moves: number
}

/** How a game begins. */
export interface Opening {
  readonly description: string
  readonly frame: Frame
}

/** One game after another at one seat of a simulator. */
export class Game {
  readonly #simulator: Simulator
  readonly #seat: Seat

  constructor(simulator: Simulator, seat: Seat) {
    this.#simulator = simulator
    this.#seat = seat
  }

  get simulator(): Simulator {
    return this.#simulator
  }

  /** Lets the next game have the seat. */
  leave(): void {
    this.#simulator.leaveSeat(this.#seat)
  }

  /** Begins a game, whatever was before, with a look around. */
  async load(setting: Setting): Promise<Opening> {
    const { api } = this.#seat
    const after = [call(api, 'getTaskDescription'), ...this.#stepping('look around')]
    const [description, ...values] = await this.#simulator.load(this.#seat, setting, after)
    return { description: String(description), frame: frameOf(values) }
  }

  async step(action: string): Promise<Frame> {
    return frameOf(await this.#simulator.play(this.#seat, 'a step', this.#stepping(action)))
  }

  /** Every action that the simulator takes now: hundreds. Of several names for a thing it draws one. */
  async validActions(): Promise<string[]> {
    const asked = call(this.#seat.api, 'getValidActionObjectCombinations')
    const list = await this.#simulator.ask(this.#seat, 'the valid actions', asked)
    return this.#simulator.texts('the valid actions', list as JavaReference)
  }

  /** A way to the goal from the beginning of a setting, which the simulator plays to find it. It ends the game. */
  async goldPath(setting: Setting): Promise<string[]> {
    const asked = call(this.#seat.api, 'getGoldActionSequence')
    const [list] = await this.#simulator.load(this.#seat, setting, [asked], { findsGoldPath: true })
    return this.#simulator.texts('the gold path', list as JavaReference)
  }

  async variations(task: string): Promise<number> {
    const asked = call(this.#seat.api, 'getTaskMaxVariations', task)
    return Number(await this.#simulator.ask(this.#seat, 'the variations of a task', asked))
  }

  #stepping(action: string): string[] {
    const { api } = this.#seat
    return [call(api, 'step', action), ...['getScore', 'getCompleted', 'getNumMoves'].map((name) => call(api, name))]
  }
}

function frameOf([observation, score, isCompleted, moves]: readonly JavaValue[]): Frame {
  return {
    observation: String(observation),
    score: Number(score),
    isCompleted: isCompleted === true,
    moves: Number(moves),
  }
}
