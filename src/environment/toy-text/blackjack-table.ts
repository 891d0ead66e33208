import { z } from 'zod'
import { Pcg64 } from '../../base/random/index.js'
import type { Environment, EpisodeSpec, Start, Transition } from '../environment.js'
import { readRow, seedColumn } from '../row.js'
import { ActionNames, refusal } from '../small-world.js'

export interface Card {
  /** 1 for an ace, 10 for a face. */
  readonly points: number
  readonly face: string
}

/** What differs between the games that are played at such a table. */
export interface Variant {
  readonly name: string
  readonly actions: ActionNames
  draw(random: Pcg64): Card
  seen(player: readonly Card[], dealer: readonly Card[]): string
  /** What the player gets when both have their cards. */
  payoff(player: readonly Card[], dealer: readonly Card[]): number
}

const DECK = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]
const columns = z.object({ seed: seedColumn })

/** Points of a card from an endless deck. */
export const drawPoints = (random: Pcg64): number => DECK[random.below(DECK.length - 1)]

/** `stick` or `stand` takes no more cards. */
export const playsOf = (stop: 'stick' | 'stand') => new ActionNames([stop, 'hit'], { stick: stop, stand: stop })

/** Points of a hand, and whether an ace in it counts 11. */
export function handOf(cards: readonly Card[]): { sum: number; usableAce: boolean } {
  const sum = cards.reduce((all, { points }) => all + points, 0)
  const usableAce = cards.some(({ points }) => points === 1) && sum + 10 <= 21
  return { sum: usableAce ? sum + 10 : sum, usableAce }
}

/** 1 for the better hand, −1 for the worse one; who has more than 21 has nothing. */
export function compareHands(player: readonly Card[], dealer: readonly Card[]): number {
  const points = (cards: readonly Card[]) => (handOf(cards).sum > 21 ? 0 : handOf(cards).sum)
  return Math.sign(points(player) - points(dealer))
}

interface Game {
  readonly dealer: readonly Card[]
  readonly player: readonly Card[]
  readonly random: Pcg64
}

/** Player against dealer. The row's `seed`, else the episode's, draws the cards as NumPy draws them for Gymnasium. */
export class BlackjackTable implements Environment {
  readonly #variant: Variant
  #game: Game | undefined

  constructor(variant: Variant) {
    this.#variant = variant
  }

  reset({ row, seed: given }: EpisodeSpec): Start {
    const { seed = given } = readRow(this.#variant.name, columns, row)
    const random = new Pcg64(seed)
    const hand = () => [this.#variant.draw(random), this.#variant.draw(random)]
    const [dealer, player] = [hand(), hand()]
    // Gymnasium draws here how the dealer's card is painted: its suit, and of a ten also its face.
    random.below(3)
    if (dealer[0].points === 10) random.below(2)
    this.#game = { dealer, player, random }
    return { observation: this.#seen() }
  }

  step(action: string): Transition {
    const number = this.#variant.actions.numberOf(action)
    if (number === undefined) return refusal(this.#seen())
    return number === 1 ? this.#hit() : this.#stop()
  }

  #hit(): Transition {
    const { player, random, dealer } = this.#game!
    this.#game = { dealer, player: [...player, this.#variant.draw(random)], random }
    const isBust = handOf(this.#game.player).sum > 21
    return this.#transition(isBust ? -1 : 0, isBust)
  }

  #stop(): Transition {
    const { player, random, dealer: before } = this.#game!
    const dealer = [...before]
    while (handOf(dealer).sum < 17) dealer.push(this.#variant.draw(random))
    this.#game = { dealer, player, random }
    return this.#transition(this.#variant.payoff(player, dealer), true)
  }

  #transition(reward: number, done: boolean): Transition {
    const shown = done ? ` The dealer has ${facesOf(this.#game!.dealer)}.` : ''
    return { observation: this.#seen() + shown, reward, done, won: reward > 0, metrics: { valid_action: 1 } }
  }

  admissible(): readonly string[] {
    return this.#variant.actions.names
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
    return this.#variant.seen(player, dealer)
  }
}

export const facesOf = (cards: readonly Card[]): string => cards.map(({ face }) => face).join(', ')
