import { z } from 'zod'
import type { DataRow } from '../../task/index.js'
import { environment, type Turn } from '../environment.js'
import { lastFence } from '../reply.js'
import { readRow, rowError, wholeNumber } from '../row.js'
import { ActionNames, personaOf, promptStyle, refusal } from '../small-world.js'
import { randomMap } from './frozen-map.js'
import { type Outcome, type Table, TableWorld } from './table.js'

const NAME = 'frozen_lake'
const size = wholeNumber(2, 100)
const p = z.number().gt(0).max(1)
/** Rows of S, F, H and G, as a list or with line breaks between them. */
const desc = z.union([z.array(z.string()), z.string().transform((text) => text.trim().split(/\s+/))])

const args = z.strictObject({
  size: size.default(4).describe('Of random maps, where the row does not say.'),
  p: p.default(0.8).describe('Share of ice on random maps, where the row does not say.'),
  desc: desc.nullable().default(null).describe('One map for all rows.'),
  start: z
    .enum(['corner', 'anywhere'])
    .default('corner')
    .describe('Random maps go from corner to corner, or from anywhere to anywhere.'),
  env_max_steps: z
    .int()
    .min(1)
    .nullable()
    .default(null)
    .describe('Random maps have a way of about so many steps; null: of any length.'),
  is_slippery: z.boolean().default(false).describe('A step may slide to the side.'),
  success_rate: z
    .number()
    .min(0)
    .max(1)
    .default(1 / 3)
    .describe('On slippery ice: how often a step goes where it was meant to go.'),
  reward_schedule: z
    .tuple([z.number(), z.number(), z.number()])
    .default([1, 0, 0])
    .describe('For the goal, a hole, and any other field.'),
  prompt: promptStyle,
})
type Args = z.output<typeof args>

const columns = z.object({ size: size.optional(), p: p.optional(), desc: desc.optional() })

/** In Gymnasium's order; replies may also number them from 1. */
export const STEPS = new ActionNames(['left', 'down', 'right', 'up'], { 1: 'left', 2: 'down', 3: 'right', 4: 'up' })

/** The field of a lake as Gymnasium's `FrozenLake-v1` plays on it. */
export class FrozenLake implements Table {
  readonly start: readonly number[]
  readonly #cells: string
  readonly #width: number
  readonly #args: Pick<Args, 'is_slippery' | 'success_rate' | 'reward_schedule'>

  constructor(map: readonly string[], given: Pick<Args, 'is_slippery' | 'success_rate' | 'reward_schedule'>) {
    this.#cells = map.join('')
    this.#width = map[0].length
    this.#args = given
    const starts = this.#cells.split('S').length - 1
    this.start = Array.from(this.#cells, (cell) => (cell === 'S' ? 1 / starts : 0))
  }

  outcomes(state: number, action: number): readonly Outcome[] {
    if ('GH'.includes(this.#cells[state])) return [[1, state, 0, true]]
    const { is_slippery, success_rate } = this.#args
    if (!is_slippery) return [this.#outcome(1, state, action)]
    const aside = (1 - success_rate) / 2
    return [
      this.#outcome(aside, state, (action + 3) % 4),
      this.#outcome(success_rate, state, action),
      this.#outcome(aside, state, (action + 1) % 4),
    ]
  }

  #outcome(probability: number, state: number, action: number): Outcome {
    const next = this.#neighbor(state, action)
    const kind = this.#cells[next] === 'G' ? 0 : this.#cells[next] === 'H' ? 1 : 2
    return [probability, next, this.#args.reward_schedule[kind], kind < 2]
  }

  /** A step against the border stays where it is. */
  #neighbor(state: number, action: number): number {
    const column = state % this.#width
    if (action === 0) return column > 0 ? state - 1 : state
    if (action === 1) return state + this.#width < this.#cells.length ? state + this.#width : state
    if (action === 2) return column + 1 < this.#width ? state + 1 : state
    return state >= this.#width ? state - this.#width : state
  }

  won(state: number): boolean {
    return this.#cells[state] === 'G'
  }

  /** `P` player, `_` ice, `O` hole, `G` goal, `X` the player in a hole, `√` the player at the goal. */
  picture(state: number): string {
    const width = this.#width
    let text = ''
    for (let cell = 0; cell < this.#cells.length; cell++) {
      if (cell > 0 && cell % width === 0) text += '\n'
      text += ` ${(cell === state ? PLAYER : SEEN)[this.#cells[cell]]} \t`
    }
    return text
  }
}

const SEEN: Readonly<Record<string, string>> = { S: '_', F: '_', H: 'O', G: 'G' }
const PLAYER: Readonly<Record<string, string>> = { S: 'P', F: 'P', H: 'X', G: '√' }

function lakeOf(given: Args, row: DataRow, seed: number): FrozenLake {
  const read = readRow(NAME, columns, row)
  const map = read.desc ?? given.desc
  if (map) return new FrozenLake(checked(map), given)
  const { size = given.size, p = given.p } = read
  const longest = given.env_max_steps ?? Number.POSITIVE_INFINITY
  return new FrozenLake(randomMap({ size, p, seed, start: given.start, longest }), given)
}

/** Rows of one length with a start and a goal. */
function checked(map: readonly string[]): readonly string[] {
  const cells = map.join('')
  const isMap = /^[SFHG]+$/.test(cells) && map.every((row) => row.length === map[0].length)
  if (isMap && cells.includes('S') && cells.includes('G')) return map
  throw rowError(NAME, 'desc', 'expected equally long rows of S, F, H and G with a start and a goal', map)
}

const RULES = `You walk over a frozen lake, one field at a time.

What you see: P is you, _ is ice, O is a hole, G is the goal.
What you want: stand on G. Whoever steps into a hole has lost. Reaching G earns 1, everything else 0.
What you can do: Up, Down, Left, Right. A step against the border changes nothing.`

const SLIPPERY = `The ice is slippery: a step may slide to the side of where you wanted to go.`

const FORM = `Think about the way first, then give the next action, and only that one, between triple backticks. To go up, write \`\`\`Up\`\`\`. Take as few steps as you can.`

function prompt({ step, maxSteps, observation, past }: Turn): string {
  const lines = [`Current Observation (${step}): `, observation, 'P has not reached G yet. Give the next action.']
  if (past.at(-1)?.observation === observation) {
    lines.push(
      'Your last reply did not move you. Check the direction, and that the action stands alone between triple backticks, like ```Up```.',
    )
  }
  return [...lines, `Steps remaining: ${maxSteps - step}.`].join('\n')
}

export const frozenLake = environment({
  doc: "over a lake of ice, around its holes: Gymnasium's FrozenLake",
  args,
  maxSteps: 100,
  create: (given) => new TableWorld(NAME, STEPS, (row, seed) => lakeOf(given, row, seed)),
  persona: ({ prompt: style, is_slippery }) =>
    personaOf(style, {
      actions: STEPS,
      rules: [RULES, ...(is_slippery ? [SLIPPERY] : []), FORM].join('\n'),
      prompt,
      read: lastFence,
      refuse: refusal,
    }),
})
