import { keyOf } from './generate.js'
import type { Level } from './level.js'
import { isSolved, move, type Places, WAYS, type Way } from './room.js'

interface Reached {
  readonly places: Places
  readonly way?: Way
  readonly before?: Reached
}

/** A shortest solution; undefined: there is none, or more states than `most` would have to be looked at. */
export function solve({ room, places }: Level, most = 100_000): Way[] | undefined {
  const seen = new Set([keyOf(places)])
  let edge: Reached[] = [{ places }]
  while (edge.length > 0 && seen.size < most) {
    const next: Reached[] = []
    for (const before of edge) {
      if (isSolved(room, before.places)) return waysTo(before)
      for (const way of WAYS) {
        const after = move(room, before.places, way)
        const key = after && keyOf(after)
        if (key === undefined || seen.has(key)) continue
        seen.add(key)
        next.push({ places: after!, way, before })
      }
    }
    edge = next
  }
  return undefined
}

function waysTo(reached: Reached): Way[] {
  const ways: Way[] = []
  for (let at: Reached | undefined = reached; at?.way !== undefined; at = at.before) ways.unshift(at.way)
  return ways
}
