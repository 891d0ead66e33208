import { type Node, some } from './node.js'
import type { Mode } from './sample.js'

const isUnit = (n: Node) => n.kind === 'symbol' && n.unit === true
const isName = (n: Node) => n.kind === 'symbol' && !n.unit
const isPercent = (n: Node) => n.kind === 'constant' && n.name === 'percent'
const isDegree = (n: Node) => n.kind === 'constant' && n.name === 'degree'
const isMark = (n: Node) => isUnit(n) || isPercent(n) || isDegree(n)
const isAngleValue = (n: Node) => n.kind === 'call' || (n.kind === 'constant' && n.name === 'pi')
const isBroken = (n: Node) => /^(?:divide|constant|call)$/.test(n.kind) || (n.kind === 'number' && n.value.d !== 1n)

const STRICT: Mode = { dropUnits: false, dropPercent: false, dropDegrees: false }

/**
 * A mark on one side where the other has none is read as written, or as left out by the other. Where both readings would
 * be right for different whole numbers, one of them is chosen: 200% answers 200 and not 2 as well, and 60 min/h not 1.
 */
export function modes(a: Node, b: Node): Mode[] {
  if (some(a, isMark) === some(b, isMark)) return [STRICT]
  const [marked, plain] = some(a, isMark) ? [a, b] : [b, a]
  const dropped = {
    dropUnits: some(marked, isUnit),
    dropPercent: some(marked, isPercent),
    dropDegrees: some(marked, isDegree),
  }
  if (some(plain, isName)) return [STRICT, dropped]
  if (some(plain, isBroken)) return [{ ...STRICT, dropUnits: dropped.dropUnits }, dropped]
  // A sine is taken of the angle, and π beside degrees turns them into radians.
  return [{ ...dropped, dropDegrees: dropped.dropDegrees && !some(marked, isAngleValue) }]
}
