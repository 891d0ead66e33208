import { z } from 'zod'
import { environment } from '../environment.js'
import { lastFence } from '../reply.js'
import { ActionNames, personaOf, promptStyle, refusal } from '../small-world.js'
import { type Outcome, type Table, TableWorld } from './table.js'

const args = z.strictObject({
  is_slippery: z.boolean().default(false).describe('A step may slide to the side.'),
  prompt: promptStyle,
})

const [HEIGHT, WIDTH] = [4, 12]
const START = (HEIGHT - 1) * WIDTH
const GOAL = HEIGHT * WIDTH - 1

const STEPS = new ActionNames(['up', 'right', 'down', 'left'])
const WAYS = [
  [-1, 0],
  [0, 1],
  [1, 0],
  [0, -1],
] as const

const isCliff = (state: number) => state > START && state < GOAL

/** Gymnasium's `CliffWalking-v1`: every step costs 1; the cliff costs 100 and leads back to the start. */
export class CliffWalking implements Table {
  readonly start = Array.from({ length: HEIGHT * WIDTH }, (_, state) => (state === START ? 1 : 0))
  readonly #isSlippery: boolean

  constructor(isSlippery: boolean) {
    this.#isSlippery = isSlippery
  }

  outcomes(state: number, action: number): readonly Outcome[] {
    const ways = this.#isSlippery ? [(action + 3) % 4, action, (action + 1) % 4] : [action]
    return ways.map((way): Outcome => {
      const row = Math.min(HEIGHT - 1, Math.max(0, Math.floor(state / WIDTH) + WAYS[way][0]))
      const column = Math.min(WIDTH - 1, Math.max(0, (state % WIDTH) + WAYS[way][1]))
      const next = row * WIDTH + column
      return isCliff(next) ? [1 / ways.length, START, -100, false] : [1 / ways.length, next, -1, next === GOAL]
    })
  }

  won(state: number): boolean {
    return state === GOAL
  }

  picture(state: number): string {
    return PICTURES[state]
  }
}

/** `x` player, `T` goal, `C` cliff, `o` any other field. */
const PICTURES = Array.from({ length: HEIGHT * WIDTH }, (_, state) => {
  const cell = (at: number) => (at === state ? 'x' : at === GOAL ? 'T' : isCliff(at) ? 'C' : 'o')
  const line = (row: number) => Array.from({ length: WIDTH }, (_, column) => cell(row * WIDTH + column)).join('  ')
  return Array.from({ length: HEIGHT }, (_, row) => line(row)).join('\n')
})

const RULES = `You walk along a cliff: x is you, T is where you want to be, C is the cliff, o is firm ground.
Every step costs 1. A step into the cliff costs 100 and brings you back to where you started.`

const SLIPPERY = 'The ground is slippery: a step may slide to the side of where you wanted to go.'

const FORM =
  'Answer with the next step between triple backticks: ```up```, ```right```, ```down``` or ```left```. You may think before it.'

export const cliffWalking = environment({
  doc: "along a cliff to the goal in few steps: Gymnasium's CliffWalking",
  args,
  maxSteps: 100,
  create: ({ is_slippery }) => {
    const table = new CliffWalking(is_slippery)
    return new TableWorld('cliff_walking', STEPS, () => table)
  },
  persona: ({ prompt, is_slippery }) =>
    personaOf(prompt, {
      actions: STEPS,
      rules: [RULES, ...(is_slippery ? [SLIPPERY] : []), FORM].join('\n'),
      prompt: ({ observation, step, maxSteps }) => `${observation}\nSteps remaining: ${maxSteps - step}.`,
      read: lastFence,
      refuse: refusal,
    }),
})
