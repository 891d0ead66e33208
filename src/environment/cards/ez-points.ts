import { z } from 'zod'
import type { Pcg64 } from '../../base/random/index.js'
import { environment } from '../environment.js'
import { promptStyle } from '../small-world.js'
import { anySuit, type PlayingCard } from './card.js'
import { PointsGame, type PointsRules, pointsPersona } from './points.js'

const TARGET = 12

const rules: PointsRules = {
  name: 'ez_points',
  cards: 2,
  target: TARGET,
  operators: ['+', '*'],
  longest: 5,
  pointsOf: ({ rank }) => Math.min(rank, 10),
  deal,
}

/** A card from 2 on, and the one that makes 12 with it, by a sum or, where it divides 12, as often by a product. */
function deal(random: Pcg64): PlayingCard[] {
  const first = { rank: 2 + random.below(11), suit: anySuit(random) }
  const value = rules.pointsOf(first)
  const isProduct = TARGET % value === 0 && random.random() < 0.5
  const second = { rank: isProduct ? TARGET / value : TARGET - value, suit: anySuit(random) }
  return random.random() < 0.5 ? [second, first] : [first, second]
}

/** Gym-Card's `EZPoints-v0`. */
export const ezPoints = environment({
  doc: "12 from two cards with + and *: Gym-Card's EZPoints",
  args: z.strictObject({ prompt: promptStyle }),
  maxSteps: 7,
  create: () => new PointsGame(rules),
  persona: ({ prompt }) => pointsPersona(prompt, rules),
})
