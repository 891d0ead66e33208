import { z } from 'zod'
import { Pcg64 } from '../../base/random/index.js'
import { type Environment, type EpisodeSpec, environment, type Start, type Transition } from '../environment.js'
import { actionField } from '../reply.js'
import { readRow, rowError, seedColumn, wholeNumber } from '../row.js'
import { ActionNames, personaOf, promptStyle, refusal } from '../small-world.js'
import { FORM } from './form.js'

const NAME = 'number_line'

const args = z.strictObject({
  /** The line goes from 0 to here. */
  max_position: z.int().min(1).max(1000).default(5),
  prompt: promptStyle,
})

const STEPS = new ActionNames(['left', 'right'], { '-': 'left', '+': 'right' })

function columnsOf(max: number) {
  const place = wholeNumber(0, max).optional()
  return z.object({ current: place, target: place, seed: seedColumn })
}

interface Line {
  readonly current: number
  readonly target: number
  readonly steps: number
}

/** Gym-Card's `NumberLine-v0`: 1 at the target, −1 for a step that comes no closer, else 0. */
class NumberLine implements Environment {
  readonly #max: number
  readonly #columns: ReturnType<typeof columnsOf>
  #line: Line = { current: 0, target: 0, steps: 0 }

  constructor(max: number) {
    this.#max = max
    this.#columns = columnsOf(max)
  }

  reset({ row, seed: given }: EpisodeSpec): Start {
    const { seed = given, current, target } = readRow(NAME, this.#columns, row)
    if (current !== undefined && current === target) {
      throw rowError(NAME, 'target', "expected another number than in 'current'", target)
    }
    const random = new Pcg64(seed)
    const first = current ?? other(target, this.#max, random)
    this.#line = { current: first, target: target ?? other(first, this.#max, random), steps: 0 }
    return { observation: this.#seen() }
  }

  step(action: string): Transition {
    const number = STEPS.numberOf(action)
    const { current, target, steps: before } = this.#line
    const moved = number === undefined ? current : Math.min(this.#max, Math.max(0, current + (number === 0 ? -1 : 1)))
    const steps = before + 1
    this.#line = { current: moved, target, steps }
    const won = moved === target
    const isCloser = Math.abs(moved - target) < Math.abs(current - target)
    return {
      observation: this.#seen(),
      reward: won ? 1 : isCloser ? 0 : -1,
      done: won || steps >= 2 * this.#max,
      won,
      metrics: { valid_action: number === undefined ? 0 : 1 },
    }
  }

  admissible(): readonly string[] {
    return STEPS.names
  }

  snapshot(): Line {
    return this.#line
  }

  restore(snapshot: unknown): void {
    this.#line = snapshot as Line
  }

  #seen(): string {
    return `Target: ${this.#line.target}. Current: ${this.#line.current}.`
  }
}

/** Any place on the line but one. */
function other(than: number | undefined, max: number, random: Pcg64): number {
  if (than === undefined) return random.below(max)
  const drawn = random.below(max - 1)
  return drawn < than ? drawn : drawn + 1
}

const rules = (max: number) => `You stand on a line of whole numbers from 0 to ${max} and want to reach the target.
left takes you to the number below, right to the number above. Reaching the target earns 1; a step that brings you no closer costs 1.
Actions: left, right.`

export const numberLine = environment({
  doc: "to a number, one by one: Gym-Card's NumberLine",
  args,
  maxSteps: 10,
  create: ({ max_position }) => new NumberLine(max_position),
  persona: ({ max_position, prompt }) =>
    personaOf(prompt, {
      actions: STEPS,
      rules: `${rules(max_position)}\n${FORM}`,
      prompt: ({ observation }) => observation,
      read: actionField,
      refuse: (observation) => refusal(observation, -1),
    }),
})
