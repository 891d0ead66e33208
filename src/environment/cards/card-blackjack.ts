import { z } from 'zod'
import type { Pcg64 } from '../../base/random/index.js'
import { environment } from '../environment.js'
import { actionField } from '../reply.js'
import { personaOf, promptStyle, refusal } from '../small-world.js'
import { BlackjackTable, type Card, compareHands, drawPoints, facesOf, playsOf } from '../toy-text/blackjack-table.js'
import { FORM } from './form.js'

const PLAYS = playsOf('stand')

/** Suits are drawn, as Gym-Card draws them, and not shown. */
function draw(random: Pcg64): Card {
  const points = drawPoints(random)
  random.below(3)
  return { points, face: points === 1 ? 'A' : points === 10 ? 'JQK'[random.below(2)] : String(points) }
}

const RULES = `You play Blackjack against a dealer. Come closer to 21 than the dealer without exceeding it.
J, Q and K count 10. An ace counts 11, or 1 where 11 would exceed 21. You see one card of the dealer, who draws up to 17 or more when you stand.
Winning earns 1, losing costs 1, a draw is 0.
Actions: stand, hit.`

/** Gym-Card's `Blackjack-v0`. */
export const cardBlackjack = environment({
  doc: "Blackjack with cards by their faces, without the sum: Gym-Card's Blackjack",
  args: z.strictObject({ prompt: promptStyle }),
  maxSteps: 20,
  create: () =>
    new BlackjackTable({
      name: 'card_blackjack',
      actions: PLAYS,
      draw,
      seen: (player, dealer) => `Dealer's card: ${dealer[0].face}. Player's cards: ${facesOf(player)}.`,
      payoff: compareHands,
    }),
  persona: ({ prompt }) =>
    personaOf(prompt, {
      actions: PLAYS,
      rules: `${RULES}\n${FORM}`,
      prompt: ({ observation }) => observation,
      read: actionField,
      refuse: refusal,
    }),
})
