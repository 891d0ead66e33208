/** What does not move in a room. */
export interface Room {
  readonly rows: number
  readonly columns: number
  /** By field, row after row. */
  readonly walls: readonly boolean[]
  readonly goals: readonly boolean[]
}

/** What moves. */
export interface Places {
  readonly player: number
  readonly boxes: readonly number[]
}

/** Up, down, left, right. */
export const WAYS = [0, 1, 2, 3] as const
export type Way = (typeof WAYS)[number]
export const opposite = (way: Way): Way => (way ^ 1) as Way

/** The field next to a field; undefined: a wall, or the end of the room. */
export function neighbor({ rows, columns, walls }: Room, field: number, way: Way): number | undefined {
  const column = field % columns
  if (way === 2 ? column === 0 : way === 3 && column === columns - 1) return undefined
  const next = field + [-columns, columns, -1, 1][way]
  return next < 0 || next >= rows * columns || walls[next] ? undefined : next
}

/** One step of the player, who pushes a box that stands in the way; undefined: nothing can move. */
export function move(room: Room, { player, boxes }: Places, way: Way): Places | undefined {
  const next = neighbor(room, player, way)
  if (next === undefined) return undefined
  const box = boxes.indexOf(next)
  if (box < 0) return { player: next, boxes }
  const behind = neighbor(room, next, way)
  if (behind === undefined || boxes.includes(behind)) return undefined
  return { player: next, boxes: boxes.with(box, behind) }
}

export function boxesOnGoals({ goals }: Room, { boxes }: Places): number {
  return boxes.filter((box) => goals[box]).length
}

export function isSolved(room: Room, places: Places): boolean {
  return boxesOnGoals(room, places) === places.boxes.length
}
