import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import type { Pcg64 } from '../../base/random/index.js'
import { environment } from '../environment.js'
import { promptStyle } from '../small-world.js'
import { anySuit, type PlayingCard } from './card.js'
import { PointsGame, type PointsRules, pointsPersona } from './points.js'
import { isReachable } from './reachable.js'

const args = z.strictObject({
  target_points: z.int().min(1).max(10_000).default(24),
  /** Otherwise J, Q and K count 11, 12 and 13. */
  treat_face_cards_as_10: z.boolean().default(true),
  /** Deals only cards that reach the target. */
  solvable: z.boolean().default(true),
  prompt: promptStyle,
})
type Args = z.output<typeof args>

const TRIES = 1000

function rulesOf({ target_points: target, treat_face_cards_as_10, solvable }: Args): PointsRules {
  const pointsOf = ({ rank }: PlayingCard) => (treat_face_cards_as_10 ? Math.min(rank, 10) : rank)
  const hand = (random: Pcg64) =>
    Array.from({ length: 4 }, () => ({ rank: 1 + random.below(12), suit: anySuit(random) }))
  return {
    name: 'points24',
    cards: 4,
    target,
    operators: ['+', '-', '*', '/', '(', ')'],
    longest: 20,
    pointsOf,
    deal(random) {
      for (let tries = 0; tries < TRIES; tries++) {
        const cards = hand(random)
        if (!solvable || isReachable(cards.map(pointsOf), target)) return cards
      }
      throw new TrinityError('environment/cards', `points24: none of ${TRIES} hands of cards makes ${target}`, {
        path: 'target_points',
        hint: 'choose another target, or set solvable: false',
      })
    },
  }
}

/** Gym-Card's `Points24-v0`. */
export const points24 = environment({
  doc: "24 from four cards with + - * / and brackets: Gym-Card's Points24",
  args,
  maxSteps: 22,
  create: (given) => new PointsGame(rulesOf(given)),
  persona: (given) => pointsPersona(given.prompt, rulesOf(given)),
})
