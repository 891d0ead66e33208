import { z } from 'zod'
import { Pcg64 } from '../../base/random/index.js'
import { type Environment, type EpisodeSpec, environment, type Start, type Transition } from '../environment.js'
import { lastFence } from '../reply.js'
import { readRow, seedColumn } from '../row.js'
import { ActionNames, personaOf, promptStyle, refusal } from '../small-world.js'

const args = z.strictObject({
  /** An ace and a ten at once earn 1.5. */
  natural: z.boolean().default(false),
  /** By the book of Sutton and Barto: such a hand wins unless the dealer has one too. `natural` has no effect then. */
  sab: z.boolean().default(true),
  prompt: promptStyle,
})
type Args = z.output<typeof args>

const NAME = 'blackjack'
export const PLAYS = new ActionNames(['stick', 'hit'], { stand: 'stick' })
const DECK = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]
const columns = z.object({ seed: seedColumn })

/** Points of a hand, and whether an ace in it counts 11. */
export function handOf(cards: readonly number[]): { sum: number; usableAce: boolean } {
  const sum = cards.reduce((all, card) => all + card, 0)
  const usableAce = cards.includes(1) && sum + 10 <= 21
  return { sum: usableAce ? sum + 10 : sum, usableAce }
}

/** 1 for the better hand, −1 for the worse one; who has more than 21 has nothing. */
export function compareHands(player: readonly number[], dealer: readonly number[]): number {
  const points = (cards: readonly number[]) => (handOf(cards).sum > 21 ? 0 : handOf(cards).sum)
  return Math.sign(points(player) - points(dealer))
}

/** A card of an endless deck. */
export const drawCard = (random: Pcg64): number => DECK[random.below(DECK.length - 1)]

const isNatural = (cards: readonly number[]) => cards.length === 2 && cards.includes(1) && cards.includes(10)

interface Game {
  readonly dealer: readonly number[]
  readonly player: readonly number[]
  readonly random: Pcg64
}

/** Gymnasium's `Blackjack-v1`, drawn from the row's `seed`, else from the episode's. */
export class Blackjack implements Environment {
  readonly #args: Args
  #game: Game | undefined

  constructor(given: Args) {
    this.#args = given
  }

  reset({ row, seed: given }: EpisodeSpec): Start {
    const { seed = given } = readRow(NAME, columns, row)
    const random = new Pcg64(seed)
    const hand = () => [drawCard(random), drawCard(random)]
    const [dealer, player] = [hand(), hand()]
    // Gymnasium draws here how the dealer's card looks: its suit, and of a ten also its face.
    random.below(3)
    if (dealer[0] === 10) random.below(2)
    this.#game = { dealer, player, random }
    return { observation: this.#seen() }
  }

  step(action: string): Transition {
    const number = PLAYS.numberOf(action)
    if (number === undefined) return refusal(this.#seen())
    return number === 1 ? this.#hit() : this.#stick()
  }

  #hit(): Transition {
    const { player, random, dealer } = this.#game!
    this.#game = { dealer, player: [...player, drawCard(random)], random }
    const isBust = handOf(this.#game.player).sum > 21
    return this.#transition(isBust ? -1 : 0, isBust)
  }

  #stick(): Transition {
    const { player, random, dealer: before } = this.#game!
    const dealer = [...before]
    while (handOf(dealer).sum < 17) dealer.push(drawCard(random))
    this.#game = { dealer, player, random }
    const result = compareHands(player, dealer)
    if (!isNatural(player)) return this.#transition(result, true)
    if (this.#args.sab) return this.#transition(isNatural(dealer) ? result : 1, true)
    return this.#transition(this.#args.natural && result === 1 ? 1.5 : result, true)
  }

  #transition(reward: number, done: boolean): Transition {
    const shown = done ? ` The dealer has ${this.#game!.dealer.join(', ')}.` : ''
    const observation = this.#seen() + shown
    return { observation, reward, done, won: reward > 0, metrics: { valid_action: 1 } }
  }

  admissible(): readonly string[] {
    return PLAYS.names
  }

  snapshot(): Game {
    return { ...this.#game!, random: this.#game!.random.copy() }
  }

  restore(snapshot: unknown): void {
    const game = snapshot as Game
    this.#game = { ...game, random: game.random.copy() }
  }

  #seen(): string {
    const { player, dealer } = this.#game!
    const { sum, usableAce } = handOf(player)
    return `Your cards: ${player.join(', ')}. Sum: ${sum}${usableAce ? ' with a usable ace' : ''}. The dealer shows ${dealer[0]}.`
  }
}

const RULES = `You play Blackjack against a dealer: come closer to 21 than the dealer, but not above it.
Faces count 10, an ace (1) counts 11 where that does not exceed 21 and is called usable then. Cards are drawn from an endless deck.
hit: take another card; above 21 you lose at once. stick: take no more; the dealer draws up to 17 or more, and the better hand wins.
Winning earns 1, losing costs 1, a draw is 0.
Answer with the next action between triple backticks: \`\`\`hit\`\`\` or \`\`\`stick\`\`\`. You may think before it.`

export const blackjack = environment({
  doc: "closer to 21 than the dealer: Gymnasium's Blackjack",
  args,
  maxSteps: 20,
  create: (given) => new Blackjack(given),
  persona: ({ prompt }) =>
    personaOf(prompt, {
      actions: PLAYS,
      rules: RULES,
      prompt: ({ observation }) => observation,
      read: lastFence,
      refuse: refusal,
    }),
})
