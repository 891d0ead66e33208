import { z } from 'zod'
import type { TrinityError } from '../../base/error.js'
import { extractAnswer } from '../../reward/index.js'
import type { DataRow } from '../../task/index.js'
import { type Environment, type EpisodeSpec, environment, type Start, type Transition } from '../environment.js'
import { readRow, rowError, seedColumn, wholeNumber } from '../row.js'
import { ActionNames, personaOf, promptStyle, refusal } from '../small-world.js'
import { generateLevel } from './generate.js'
import { type Level, picture, readLevel } from './level.js'
import { boxesOnGoals, isSolved, move, WAYS } from './room.js'

const NAME = 'sokoban'
const side = wholeNumber(4, 30)
/** Rows and columns with their walls; one number for both. */
const dimRoom = z.union([z.tuple([side, side]), side.transform((both): [number, number] => [both, both])])
const numBoxes = wholeNumber(1, 20)

const args = z.strictObject({
  /** Of generated rooms. */
  dim_room: dimRoom.default([6, 6]),
  /** Of generated rooms. */
  num_boxes: numBoxes.default(1),
  prompt: promptStyle,
})
type Args = z.output<typeof args>

const columns = z.object({
  level: z.string().optional(),
  dim_room: dimRoom.optional(),
  num_boxes: numBoxes.optional(),
  seed: seedColumn,
})

export const STEPS = new ActionNames(['up', 'down', 'left', 'right'])

/** Rooms as gym-sokoban plays them: −0.1 a step, 1 for a box on a goal, −1 for one off it, 10 for the last one. */
export class Sokoban implements Environment {
  readonly #args: Args
  #level: Level | undefined

  constructor(given: Args) {
    this.#args = given
  }

  reset(episode: EpisodeSpec): Start {
    this.#level = levelOf(this.#args, episode)
    return { observation: picture(this.#level) }
  }

  step(action: string): Transition {
    const { room, places: before } = this.#level!
    const number = STEPS.numberOf(action)
    if (number === undefined) return refusal(picture(this.#level!), -0.1)
    const places = move(room, before, WAYS[number]) ?? before
    this.#level = { room, places }
    const on = boxesOnGoals(room, places)
    const gain = on - boxesOnGoals(room, before)
    const won = isSolved(room, places)
    const reward = won ? -0.1 + gain + 10 : -0.1 + gain
    const metrics = { valid_action: 1, 'boxes_on_goals:last': on }
    return { observation: picture(this.#level), reward, done: won, won, metrics }
  }

  admissible(): readonly string[] {
    return STEPS.names
  }

  /** Nothing in a state is ever changed: it is its own snapshot. */
  snapshot(): Level {
    return this.#level!
  }

  restore(snapshot: unknown): void {
    this.#level = snapshot as Level
  }
}

/** The row's level; else a room that is generated from the seed. */
function levelOf(given: Args, { row, seed: own }: { row: DataRow; seed: number }): Level {
  const { level, seed = own, dim_room = given.dim_room, num_boxes = given.num_boxes } = readRow(NAME, columns, row)
  if (level === undefined) return generateLevel({ rows: dim_room[0], columns: dim_room[1], boxes: num_boxes, seed })
  try {
    const read = readLevel(level)
    if (!isSolved(read.room, read.places)) return read
  } catch (error) {
    throw rowError(NAME, 'level', (error as TrinityError).message, level)
  }
  throw rowError(NAME, 'level', 'the level is solved already', level)
}

const RULES = `You solve a Sokoban puzzle: push every box onto a goal.

What you see: # wall, _ floor, O goal, X box, √ box on a goal, P you, S you on a goal.
What you can do: Up, Down, Left, Right. You push a box by walking against it. You cannot pull, and you cannot push two boxes at once or a box into a wall.
A step costs 0.1. A box on a goal earns 1, a box that leaves its goal costs 1, and the last box earns 10 more.
Think in <think>…</think>, then give the next step in <answer>…</answer>, for example <answer>Up</answer>.`

export const sokoban = environment({
  doc: 'push every box onto a goal: rooms of Boxoban, or generated ones',
  args,
  maxSteps: 100,
  create: (given) => new Sokoban(given),
  persona: ({ prompt }) =>
    personaOf(prompt, {
      actions: STEPS,
      rules: RULES,
      prompt: ({ observation, step, maxSteps }) => `${observation}\nSteps remaining: ${maxSteps - step}.`,
      read: (reply) => extractAnswer(reply, 'last_answer_tag') ?? undefined,
      refuse: (observation) => refusal(observation, -0.1),
    }),
})
