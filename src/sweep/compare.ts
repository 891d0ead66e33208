import { mean } from '../monitor/combine.js'
import type { Curve } from './curve.js'

/** A number of several seeds. */
export interface Spread {
  readonly mean: number
  /** Sample deviation; undefined: one seed has none. */
  readonly deviation?: number
}

/** What a sweep compares: one curve for each seed. */
export interface Arm {
  readonly name: string
  readonly curves: readonly Curve[]
}

/** An arm as the table shows it. */
export interface ArmResult {
  readonly name: string
  readonly runs: number
  /** Before training. */
  readonly first: Spread
  /** Where all arms have spent the same. */
  readonly atBudget: Spread
  /** The highest point of each run up to there. */
  readonly highest: Spread
}

export interface Comparison {
  /** What every run has spent: the least that any of them has. */
  readonly budget: number
  readonly arms: readonly ArmResult[]
}

/** Compares arms where all their runs have spent the same. Undefined: no run has any number yet. */
export function compare(arms: readonly Arm[]): Comparison | undefined {
  const used = arms.map(({ name, curves }) => ({ name, curves: curves.filter(({ length }) => length > 0) }))
  const all = used.flatMap(({ curves }) => curves)
  if (all.length === 0) return undefined
  const budget = Math.min(...all.map((curve) => curve[curve.length - 1].x))
  const results = used.flatMap(({ name, curves }): ArmResult[] => {
    if (curves.length === 0) return []
    const highest = (curve: Curve) => Math.max(valueAt(curve, budget), ...upTo(curve, budget).map(({ y }) => y))
    return [
      {
        name,
        runs: curves.length,
        first: spread(curves.map((curve) => curve[0].y)),
        atBudget: spread(curves.map((curve) => valueAt(curve, budget))),
        highest: spread(curves.map(highest)),
      },
    ]
  })
  return { budget, arms: results }
}

function upTo(curve: Curve, budget: number): Curve {
  return curve.filter(({ x }) => x <= budget)
}

/** On the straight line between the two points around it; beyond the ends, the end. Of several there, the last one. */
export function valueAt(curve: Curve, x: number): number {
  const after = curve.findIndex((point) => point.x > x)
  if (after < 0) return curve[curve.length - 1].y
  const [right, left] = [curve[after], curve[after - 1]]
  if (left === undefined) return right.y
  return left.y + ((right.y - left.y) * (x - left.x)) / (right.x - left.x)
}

export function spread(values: readonly number[]): Spread {
  const center = mean(values)
  if (values.length < 2) return { mean: center }
  const squares = values.reduce((sum, value) => sum + (value - center) ** 2, 0)
  return { mean: center, deviation: Math.sqrt(squares / (values.length - 1)) }
}

/** The mean of an arm's curves, and how far they spread, at so many places up to the budget. */
export function meanCurve(curves: readonly Curve[], budget: number, places = 60): (Spread & { x: number })[] {
  const begin = Math.min(...curves.map((curve) => curve[0].x))
  return Array.from({ length: places + 1 }, (_, i) => {
    const x = begin + ((budget - begin) * i) / places
    return { x, ...spread(curves.map((curve) => valueAt(curve, x))) }
  })
}
