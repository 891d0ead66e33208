import { z } from 'zod'
import { TrinityError } from '../base/error.js'
import { Pcg64 } from '../base/random/index.js'
import { type Environment, type EpisodeSpec, environment, type Start, type Transition } from './environment.js'

const args = z.strictObject({
  size: z.number().int().min(2).max(16).default(4).describe('Fields along each side, where the row does not say.'),
  holes: z.number().min(0).max(0.6).default(0.15).describe('Share of fields that are holes.'),
  step_cost: z.number().min(0).default(0.02).describe('Taken off at every step, so that short ways are better.'),
})

const MOVES: Record<string, readonly [number, number]> = { up: [-1, 0], down: [1, 0], left: [0, -1], right: [0, 1] }

interface GridState {
  readonly size: number
  readonly holes: ReadonlySet<number>
  readonly row: number
  readonly column: number
}

/**
 * A field of size × size: from the upper left to the goal in the lower right, around holes. The row's `seed` (else the
 * episode's) and `size` choose the map.
 */
export class GridWorld implements Environment {
  readonly #args: z.output<typeof args>
  #state: GridState = { size: 1, holes: new Set(), row: 0, column: 0 }

  constructor(given: z.output<typeof args>) {
    this.#args = given
  }

  reset({ row, seed }: EpisodeSpec): Start {
    const size = Number(row.size ?? this.#args.size)
    if (!Number.isInteger(size) || size < 1) {
      throw new TrinityError('environment/row', `a grid cannot have the size ${JSON.stringify(row.size)}`, {
        path: 'size',
        hint: "the column 'size' of the task set holds whole numbers, 2 or more",
      })
    }
    this.#state = { size, holes: drawHoles(size, this.#args.holes, Number(row.seed ?? seed)), row: 0, column: 0 }
    return { observation: String(this) }
  }

  /** 1 at the goal, −1 in a hole, else 0, less the cost. A step against the border stays where it is. */
  step(action: string): Transition {
    if (!Object.hasOwn(MOVES, action)) return stay(String(this), this.#args.step_cost)
    const [down, right] = MOVES[action]
    const { size, holes, row, column } = this.#state
    const clamp = (place: number) => Math.min(size - 1, Math.max(0, place))
    this.#state = { size, holes, row: clamp(row + down), column: clamp(column + right) }
    const cell = this.#state.row * size + this.#state.column
    const gain = cell === size * size - 1 ? 1 : holes.has(cell) ? -1 : 0
    return {
      observation: String(this),
      reward: gain - this.#args.step_cost,
      done: gain !== 0,
      won: gain > 0,
      metrics: { valid_move: 1, 'goal:sum': gain > 0 ? 1 : 0 },
    }
  }

  admissible(): readonly string[] {
    return Object.keys(MOVES)
  }

  /** Nothing in a state is ever changed: it is its own snapshot. */
  snapshot(): GridState {
    return this.#state
  }

  restore(snapshot: unknown): void {
    this.#state = snapshot as GridState
  }

  /** `P` player, `G` goal, `O` hole, `_` free. */
  toString(): string {
    const { size, holes, row, column } = this.#state
    const cells = Array.from({ length: size * size }, (_, cell) => {
      if (cell === row * size + column) return 'P'
      if (cell === size * size - 1) return 'G'
      return holes.has(cell) ? 'O' : '_'
    })
    return Array.from({ length: size }, (_, line) => cells.slice(line * size, (line + 1) * size).join(' ')).join('\n')
  }
}

/** What is no move costs a step and changes nothing. */
function stay(observation: string, cost: number): Transition {
  return { observation, reward: -cost, done: false, metrics: { valid_move: 0 } }
}

/** Same seed, same map; a map without a way to the goal is drawn again. */
function drawHoles(size: number, share: number, seed: number): ReadonlySet<number> {
  const rng = new Pcg64(seed)
  let holes = new Set<number>()
  do {
    holes = new Set()
    for (let cell = 1; cell < size * size - 1; cell++) if (rng.random() < share) holes.add(cell)
  } while (!reachable(size, holes))
  return holes
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

export const gridWorld = environment({
  doc: 'a walk over a grid, around holes to the goal',
  args,
  maxSteps: 10,
  create: (given) => new GridWorld(given),
  persona: ({ step_cost }) => ({
    system: () => RULES,
    prompt: ({ observation }) => observation,
    action: (reply, { observation }) => readMove(reply) ?? stay(observation, step_cost),
  }),
})
