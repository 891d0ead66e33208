import { z } from 'zod'
import { Pcg64 } from '../../base/random/index.js'
import type { Experience } from '../../experience/index.js'
import type { ChatMessage } from '../../model/index.js'
import { StepWiseRewardWorkflow } from '../step-wise.js'
import { workflowArgs } from '../workflow-args.js'

const gridArgs = z.strictObject({
  size: z.number().int().min(2).max(16).default(4),
  /** Share of fields that are holes. */
  holes: z.number().min(0).max(0.6).default(0.15),
  max_env_steps: z.number().int().min(1).default(10),
  /** Taken off at every step, so that short ways are better. */
  step_cost: z.number().min(0).default(0.02),
})

const MOVES: Record<string, readonly [number, number]> = { up: [-1, 0], down: [1, 0], left: [0, -1], right: [0, 1] }

/** A field of size × size: from the upper left to the goal in the lower right, around holes. */
export class GridWorld {
  readonly size: number
  readonly #holes: ReadonlySet<number>
  #row = 0
  #column = 0

  /** Same seed, same map; a map without a way to the goal is drawn again. */
  constructor(size: number, share: number, seed: number) {
    this.size = size
    const rng = new Pcg64(seed)
    let holes = new Set<number>()
    do {
      holes = new Set()
      for (let cell = 1; cell < size * size - 1; cell++) if (rng.random() < share) holes.add(cell)
    } while (!reachable(size, holes))
    this.#holes = holes
  }

  /** 1 at the goal, −1 in a hole, else 0. A step against the border stays where it is. */
  move(name: string): number {
    const [down, right] = MOVES[name]
    this.#row = Math.min(this.size - 1, Math.max(0, this.#row + down))
    this.#column = Math.min(this.size - 1, Math.max(0, this.#column + right))
    const cell = this.#row * this.size + this.#column
    return cell === this.size * this.size - 1 ? 1 : this.#holes.has(cell) ? -1 : 0
  }

  /** `P` player, `G` goal, `O` hole, `_` free. */
  toString(): string {
    const cells = Array.from({ length: this.size * this.size }, (_, cell) => {
      if (cell === this.#row * this.size + this.#column) return 'P'
      if (cell === this.size * this.size - 1) return 'G'
      return this.#holes.has(cell) ? 'O' : '_'
    })
    return Array.from({ length: this.size }, (_, row) =>
      cells.slice(row * this.size, (row + 1) * this.size).join(' '),
    ).join('\n')
  }
}

function reachable(size: number, holes: ReadonlySet<number>): boolean {
  const seen = new Set([0])
  const open = [0]
  for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
    if (cell === size * size - 1) return true
    const [row, column] = [Math.floor(cell / size), cell % size]
    for (const [down, right] of Object.values(MOVES)) {
      const [r, c] = [row + down, column + right]
      const next = r * size + c
      if (r < 0 || c < 0 || r >= size || c >= size || holes.has(next) || seen.has(next)) continue
      seen.add(next)
      open.push(next)
    }
  }
  return false
}

/** The last move that a text names. */
export function readMove(text: string): string | undefined {
  return text
    .toLowerCase()
    .match(/\b(up|down|left|right)\b/g)
    ?.at(-1)
}

const RULES = `You walk on a grid: P is you, G the goal, O a hole, _ a free field. Reach G without falling into a hole. Answer with one move: up, down, left or right.`

/** A small step-wise environment. The row's `seed` (else its place in the data) and `size` choose the map. */
export class GridWorldWorkflow extends StepWiseRewardWorkflow {
  static override readonly doc: string = 'a walk over a grid around holes, with a reward at each step'
  static override readonly args = gridArgs
  readonly args = workflowArgs(this.task, gridArgs)
  readonly #world = new GridWorld(
    Number(this.task.raw.size ?? this.args.size),
    this.args.holes,
    Number(this.task.raw.seed ?? this.task.index.row),
  )
  #earned = 0

  override get maxSteps(): number {
    return this.args.max_env_steps
  }

  override async step(step: number): Promise<boolean> {
    const messages: ChatMessage[] = [
      { role: 'system', content: RULES },
      { role: 'user', content: String(this.#world) },
    ]
    const [answer] = await this.model.chat(messages)
    const move = readMove(answer.responseText ?? '')
    answer.info.env_state = String(this.#world)
    answer.metrics.valid_move = move ? 1 : 0
    if (!move) {
      this.#earned = -this.args.step_cost
      return true
    }
    const gain = this.#world.move(move)
    this.#earned = gain - this.args.step_cost
    answer.metrics['goal:sum'] = gain > 0 ? 1 : 0
    this.logger.debug(`step ${step}: ${move}, ${gain}`)
    return gain === 0
  }

  override reward(_experiences: readonly Experience[]): number {
    return this.#earned
  }
}
