import { z } from 'zod'
import { environment } from '../environment.js'
import { lastFence } from '../reply.js'
import { personaOf, promptStyle, refusal } from '../small-world.js'
import { BlackjackTable, type Card, compareHands, drawPoints, facesOf, handOf, playsOf } from './blackjack-table.js'

const args = z.strictObject({
  /** An ace and a ten at once earn 1.5. */
  natural: z.boolean().default(false),
  /** By the book of Sutton and Barto: such a hand wins unless the dealer has one too. `natural` has no effect then. */
  sab: z.boolean().default(true),
  prompt: promptStyle,
})
type Args = z.output<typeof args>

const PLAYS = playsOf('stick')

const isNatural = (cards: readonly Card[]) =>
  cards.length === 2 && [1, 10].every((points) => cards.some((card) => card.points === points))

function payoff({ natural, sab }: Args, player: readonly Card[], dealer: readonly Card[]): number {
  const result = compareHands(player, dealer)
  if (!isNatural(player)) return result
  if (sab) return isNatural(dealer) ? result : 1
  return natural && result === 1 ? 1.5 : result
}

function seen(player: readonly Card[], dealer: readonly Card[]): string {
  const { sum, usableAce } = handOf(player)
  const ace = usableAce ? ' with a usable ace' : ''
  return `Your cards: ${facesOf(player)}. Sum: ${sum}${ace}. The dealer shows ${dealer[0].face}.`
}

const RULES = `You play Blackjack against a dealer: come closer to 21 than the dealer, but not above it.
Faces count 10, an ace (1) counts 11 where that does not exceed 21 and is called usable then. Cards are drawn from an endless deck.
hit: take another card; above 21 you lose at once. stick: take no more; the dealer draws up to 17 or more, and the better hand wins.
Winning earns 1, losing costs 1, a draw is 0.
Answer with the next action between triple backticks: \`\`\`hit\`\`\` or \`\`\`stick\`\`\`. You may think before it.`

/** Gymnasium's `Blackjack-v1`. */
export const blackjack = environment({
  doc: "closer to 21 than the dealer: Gymnasium's Blackjack",
  args,
  maxSteps: 20,
  create: (given) =>
    new BlackjackTable({
      name: 'blackjack',
      actions: PLAYS,
      draw: (random) => {
        const points = drawPoints(random)
        return { points, face: String(points) }
      },
      seen,
      payoff: (player, dealer) => payoff(given, player, dealer),
    }),
  persona: ({ prompt }) =>
    personaOf(prompt, {
      actions: PLAYS,
      rules: RULES,
      prompt: ({ observation }) => observation,
      read: lastFence,
      refuse: refusal,
    }),
})
