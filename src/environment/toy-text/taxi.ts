import { z } from 'zod'
import type { Pcg64 } from '../../base/random/index.js'
import { environment } from '../environment.js'
import { lastFence } from '../reply.js'
import { ActionNames, personaOf, promptStyle, refusal } from '../small-world.js'
import { type Outcome, type Table, TableWorld } from './table.js'

const probability = z.number().min(0).max(1)

const args = z.strictObject({
  /** The taxi may drift to the side. */
  is_rainy: z.boolean().default(false),
  /** How often it goes where it was meant to go when it rains. */
  rainy_probability: probability.default(0.8),
  /** The passenger may want to go elsewhere after the first move. */
  fickle_passenger: z.boolean().default(false),
  fickle_probability: probability.default(0.3),
  prompt: promptStyle,
})
type Args = z.output<typeof args>

const DRIVES = new ActionNames(['south', 'north', 'east', 'west', 'pickup', 'dropoff'])
const MAP = ['+---------+', '|R: | : :G|', '| : | : : |', '| : : : : |', '| | : | : |', '|Y| : |B: |', '+---------+']
const PLACES = [
  [0, 0],
  [0, 4],
  [4, 0],
  [4, 3],
] as const
const LETTERS = 'RGYB'
const IN_TAXI = 4
/** Per action: ahead, to the left, to the right. */
const WAYS = [
  [
    [1, 0],
    [0, 1],
    [0, -1],
  ],
  [
    [-1, 0],
    [0, -1],
    [0, 1],
  ],
  [
    [0, 1],
    [-1, 0],
    [1, 0],
  ],
  [
    [0, -1],
    [1, 0],
    [-1, 0],
  ],
] as const
/** States from here on are the same ones with a passenger who is going to change their mind. */
const FICKLE = 500

interface Ride {
  readonly row: number
  readonly column: number
  /** A place, or IN_TAXI. */
  readonly passenger: number
  readonly destination: number
}

function encode({ row, column, passenger, destination }: Ride): number {
  return ((row * 5 + column) * 5 + passenger) * 4 + destination
}

function decode(state: number): Ride {
  const number = state % FICKLE
  return {
    row: Math.floor(number / 100),
    column: Math.floor(number / 20) % 5,
    passenger: Math.floor(number / 4) % 5,
    destination: number % 4,
  }
}

const placeOf = ({ row, column }: Ride) => PLACES.findIndex(([r, c]) => r === row && c === column)

/** Is there no wall, and no border, between a field and its neighbor? */
function isOpen(row: number, column: number, [down, right]: readonly [number, number]): boolean {
  if (down !== 0) return row + down >= 0 && row + down < 5
  return MAP[1 + row][2 * column + (right > 0 ? 2 : 0)] === ':'
}

/** Gymnasium's `Taxi-v4`: 20 for a passenger who arrives, −10 for a wrong pickup or dropoff, −1 for all else. */
export class Taxi implements Table {
  readonly start: readonly number[]
  readonly #args: Args

  constructor(given: Args) {
    this.#args = given
    const waits = Array.from({ length: FICKLE }, (_, state) => {
      const { passenger, destination } = decode(state)
      return passenger !== IN_TAXI && passenger !== destination ? 1 : 0
    })
    const count = waits.filter((waiting) => waiting === 1).length
    this.start = waits.map((waiting) => waiting / count)
  }

  outcomes(state: number, action: number): readonly Outcome[] {
    const mood = state - (state % FICKLE)
    const ride = decode(state)
    if (action < 4) {
      return this.#drive(ride, action).map(([chance, next]): Outcome => [chance, encode(next) + mood, -1, false])
    }
    const [next, reward, done] = action === 4 ? pickUp(ride) : dropOff(ride)
    return [[1, encode(next) + mood, reward, done]]
  }

  /** When the way ahead is blocked the taxi does not drift either. */
  #drive(ride: Ride, action: number): [chance: number, next: Ride][] {
    const { is_rainy, rainy_probability } = this.#args
    const ahead = isOpen(ride.row, ride.column, WAYS[action][0])
    const go = (way: readonly [number, number]): Ride => {
      if (!ahead || !isOpen(ride.row, ride.column, way)) return ride
      return { ...ride, row: ride.row + way[0], column: ride.column + way[1] }
    }
    const [forward, left, right] = WAYS[action].map(go)
    if (!is_rainy) return [[1, forward]]
    const aside = (1 - rainy_probability) / 2
    return [
      [rainy_probability, forward],
      [aside, left],
      [aside, right],
    ]
  }

  won(): boolean {
    return true
  }

  /** Whether the passenger is fickle is drawn at the start; where they go instead, at the first move with them. */
  settle(state: number, random: Pcg64, before?: number): number {
    const { fickle_passenger, fickle_probability } = this.#args
    if (!fickle_passenger) return state
    if (before === undefined) return random.random() < fickle_probability ? state + FICKLE : state
    const [was, is] = [decode(before), decode(state)]
    const moved = was.row !== is.row || was.column !== is.column
    if (before < FICKLE || was.passenger !== IN_TAXI || !moved) return state
    const others = [0, 1, 2, 3].filter((place) => place !== was.destination)
    return encode({ ...is, destination: others[random.below(2)] })
  }

  /** `T` is the taxi, letters are places, `|` are walls. */
  picture(state: number): string {
    const { row, column, passenger, destination } = decode(state)
    const map = MAP.map((line, at) =>
      at === row + 1 ? `${line.slice(0, 2 * column + 1)}T${line.slice(2 * column + 2)}` : line,
    )
    const waits = passenger === IN_TAXI ? 'in the taxi' : `at ${LETTERS[passenger]}`
    return [
      ...map,
      `Taxi: row ${row}, column ${column}. Passenger: ${waits}. Destination: ${LETTERS[destination]}.`,
    ].join('\n')
  }
}

function pickUp(ride: Ride): [Ride, reward: number, done: boolean] {
  const isHere = ride.passenger !== IN_TAXI && placeOf(ride) === ride.passenger
  return isHere ? [{ ...ride, passenger: IN_TAXI }, -1, false] : [ride, -10, false]
}

function dropOff(ride: Ride): [Ride, reward: number, done: boolean] {
  const place = placeOf(ride)
  if (ride.passenger !== IN_TAXI || place < 0) return [ride, -10, false]
  const done = place === ride.destination
  return [{ ...ride, passenger: place }, done ? 20 : -1, done]
}

const RULES = `You drive a taxi over a map of 5 rows and 5 columns, both numbered from 0: T is you, | is a wall, : can be crossed.
The places are R (row 0, column 0), G (row 0, column 4), Y (row 4, column 0) and B (row 4, column 3).
Drive to the passenger, pick them up, drive to their destination, drop them off there.
A passenger who arrives earns 20. A pickup or dropoff where it cannot be done costs 10. Every other action costs 1.
Answer with the next action between triple backticks: \`\`\`south\`\`\`, \`\`\`north\`\`\`, \`\`\`east\`\`\`, \`\`\`west\`\`\`, \`\`\`pickup\`\`\` or \`\`\`dropoff\`\`\`. You may think before it.`

export const taxi = environment({
  doc: "fetch a passenger and bring them where they want to go: Gymnasium's Taxi",
  args,
  maxSteps: 200,
  create: (given) => {
    const table = new Taxi(given)
    return new TableWorld('taxi', DRIVES, () => table)
  },
  persona: ({ prompt }) =>
    personaOf(prompt, {
      actions: DRIVES,
      rules: RULES,
      prompt: ({ observation, step, maxSteps }) => `${observation}\nSteps remaining: ${maxSteps - step}.`,
      read: lastFence,
      refuse: refusal,
    }),
})
