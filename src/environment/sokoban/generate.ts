import { TrinityError } from '../../base/error.js'
import { Pcg64 } from '../../base/random/index.js'
import type { Level } from './level.js'
import { boxesOnGoals, neighbor, opposite, type Places, type Room, WAYS, type Way } from './room.js'

export interface RoomSpec {
  readonly rows: number
  readonly columns: number
  readonly boxes: number
  readonly seed: number
}

const TRIES = 300
const TURNS = 0.35
/** States that are looked at in playing backwards. */
const MOST_STATES = 2000

/**
 * A room that can be solved, made as gym-sokoban makes them: a random walk digs the floor, boxes stand on their goals, and
 * the player pulls them away. Of the states on the way one is taken whose boxes are far from where they began.
 */
export function generateLevel({ rows, columns, boxes, seed }: RoomSpec): Level {
  const random = new Pcg64(seed)
  for (let tries = 0; tries < TRIES; tries++) {
    const walls = dig(rows, columns, random)
    const floor = walls.flatMap((wall, field) => (wall ? [] : [field]))
    if (floor.length <= boxes + 1) continue
    random.shuffle(floor)
    const [player, ...goals] = floor.slice(0, boxes + 1)
    const room = { rows, columns, walls, goals: walls.map((_, field) => goals.includes(field)) }
    const places = playBackwards(room, { player, boxes: goals }, random)
    if (places) return { room, places }
  }
  throw new TrinityError(
    'environment/room',
    `sokoban: none of ${TRIES} rooms of ${rows} × ${columns} fields has ${boxes} boxes off their goals`,
    { hint: 'raise dim_room or lower num_boxes' },
  )
}

/** What is dug around the walker, of the 3 × 3 fields there. */
const SPADES = [
  [3, 4, 5],
  [1, 4, 7],
  [3, 4, 7],
  [3, 4, 6, 7],
  [4, 5, 7],
]

/** Walls with floor between them, never at the border. */
function dig(rows: number, columns: number, random: Pcg64): boolean[] {
  const inside = (place: number, size: number) => Math.max(1, Math.min(place, size - 2))
  const walls = Array.from({ length: rows * columns }, () => true)
  let way = random.below(3)
  let [row, column] = [1 + random.below(rows - 2), 1 + random.below(columns - 2)]
  for (let step = 0; step < Math.floor(1.7 * (rows + columns)); step++) {
    if (random.random() < TURNS) way = random.below(3)
    row = inside(row + [-1, 1, 0, 0][way], rows)
    column = inside(column + [0, 0, -1, 1][way], columns)
    for (const at of SPADES[random.below(SPADES.length - 1)]) {
      const [r, c] = [row - 1 + Math.floor(at / 3), column - 1 + (at % 3)]
      if (r === inside(r, rows) && c === inside(c, columns)) walls[r * columns + c] = false
    }
  }
  return walls
}

/** One of the better states that pulling leads to; undefined: none has all boxes off the goals. */
function playBackwards(room: Room, start: Places, random: Pcg64): Places | undefined {
  const seen = new Set<string>()
  const open: [places: Places, pulls: number][] = [[start, 0]]
  const reached: [places: Places, score: number][] = []
  let most = 0
  for (let next = open.pop(); next !== undefined && seen.size < MOST_STATES; next = open.pop()) {
    const [places, pulls] = next
    const key = keyOf(places)
    if (seen.has(key)) continue
    seen.add(key)
    const score = boxesOnGoals(room, places) === 0 ? pulls * distance(room, start.boxes, places.boxes) : 0
    if (score > 0) reached.push([places, score])
    most = Math.max(most, score)
    const ways = [...WAYS]
    random.shuffle(ways)
    for (const way of ways) {
      for (const after of steps(room, places, way)) open.push([after, after.boxes === places.boxes ? pulls : pulls + 1])
    }
  }
  // Always the best one would give the same rooms over and over where they are small.
  const better = reached.filter(([, score]) => score >= most / 2)
  return better.length > 0 ? better[random.below(better.length - 1)][0] : undefined
}

/** A step backwards, alone and with the box behind the player. */
function steps(room: Room, { player, boxes }: Places, way: Way): Places[] {
  const next = neighbor(room, player, way)
  if (next === undefined || boxes.includes(next)) return []
  const behind = neighbor(room, player, opposite(way))
  const box = behind === undefined ? -1 : boxes.indexOf(behind)
  const alone = { player: next, boxes }
  return box < 0 ? [alone] : [alone, { player: next, boxes: boxes.with(box, player) }]
}

function distance({ columns }: Room, from: readonly number[], to: readonly number[]): number {
  return from.reduce((sum, field, i) => {
    const down = Math.abs(Math.floor(field / columns) - Math.floor(to[i] / columns))
    return sum + down + Math.abs((field % columns) - (to[i] % columns))
  }, 0)
}

/** The same for states that differ only in which box is which. */
export function keyOf({ player, boxes }: Places): string {
  return `${player}:${[...boxes].sort((a, b) => a - b)}`
}
