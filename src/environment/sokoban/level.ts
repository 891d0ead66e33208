import { TrinityError } from '../../base/error.js'
import type { Places, Room } from './room.js'

export interface Level {
  readonly room: Room
  readonly places: Places
}

const MOST = 64
const KNOWN = '#@+$*. -_'

/**
 * A level as text, a character for each field: `#` wall, `@` player, `$` box, `.` goal, `*` box on a goal, `+` player on a
 * goal, blank (also `-` or `_`) floor. Short rows end in wall.
 */
export function readLevel(text: string): Level {
  const lines = text
    .replace(/\r/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const columns = Math.max(0, ...lines.map((line) => line.length))
  if (lines.length > MOST || columns > MOST) throw levelError(`it is larger than ${MOST} × ${MOST} fields`)
  const cells = lines.map((line) => line.padEnd(columns, '#')).join('')
  const foreign = [...cells].find((cell) => !KNOWN.includes(cell))
  if (foreign) throw levelError(`${JSON.stringify(foreign)} is none of ${JSON.stringify(KNOWN)}`)
  const where = (kinds: string) => [...cells].flatMap((cell, field) => (kinds.includes(cell) ? [field] : []))
  const [players, boxes, goals] = [where('@+'), where('$*'), where('.*+')]
  if (players.length !== 1) throw levelError(`it has ${players.length} players, not 1`)
  if (boxes.length === 0 || boxes.length !== goals.length) {
    throw levelError(`it has ${boxes.length} boxes and ${goals.length} goals; there must be as many, 1 or more`)
  }
  const is = (kinds: string) => Array.from(cells, (cell) => kinds.includes(cell))
  const room = { rows: lines.length, columns, walls: is('#'), goals: is('.*+') }
  return { room, places: { player: players[0], boxes } }
}

function levelError(why: string): TrinityError {
  return new TrinityError('environment/level', `this is not a level of Sokoban: ${why}`, {
    hint: 'rows of # wall, @ player, $ box, . goal, * box on a goal, + player on a goal, and blanks',
  })
}

/** The text that `readLevel` reads. */
export function writeLevel(level: Level): string {
  return draw(level, ['#', ' ', '.', '@', '+', '$', '*'])
}

/** `#` wall, `_` floor, `O` goal, `X` box, `√` box on a goal, `P` player, `S` player on a goal. */
export function picture(level: Level): string {
  return draw(level, [' # ', ' _ ', ' O ', ' P ', ' S ', ' X ', ' √ '])
}

type Symbols = [wall: string, floor: string, goal: string, ...player: [string, string], ...box: [string, string]]

function draw({ room: { rows, columns, walls, goals }, places: { player, boxes } }: Level, symbols: Symbols): string {
  const cell = (field: number) => {
    const onGoal = goals[field] ? 1 : 0
    if (field === player) return symbols[3 + onGoal]
    if (boxes.includes(field)) return symbols[5 + onGoal]
    return walls[field] ? symbols[0] : symbols[1 + onGoal]
  }
  const line = (row: number) => Array.from({ length: columns }, (_, column) => cell(row * columns + column)).join('')
  return Array.from({ length: rows }, (_, row) => line(row)).join('\n')
}

/** The levels of a file of Boxoban: `; number`, then the rows. */
export function readLevels(text: string): string[] {
  return text
    .replace(/\r/g, '')
    .split(/^;.*\n?/m)
    .map((level) => level.replace(/^\n+|\s+$/g, ''))
    .filter((level) => level !== '')
}
