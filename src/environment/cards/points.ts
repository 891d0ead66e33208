import { z } from 'zod'
import { Pcg64 } from '../../base/random/index.js'
import { readArithmetic } from '../../reward/arithmetic.js'
import type { Environment, EpisodeSpec, Persona, Start, Transition } from '../environment.js'
import { actionField } from '../reply.js'
import { readRow, rowError, seedColumn } from '../row.js'
import { ActionNames, type PromptStyle, personaOf, refusal } from '../small-world.js'
import { cardName, type PlayingCard, readCard } from './card.js'
import { FORM } from './form.js'

/** What differs between the games of making a number from cards. */
export interface PointsRules {
  readonly name: string
  readonly cards: number
  readonly target: number
  readonly operators: readonly string[]
  /** A formula that has more parts ends the episode at the next action. */
  readonly longest: number
  /** What a card counts. */
  pointsOf(card: PlayingCard): number
  deal(random: Pcg64): PlayingCard[]
}

const columns = z.object({
  cards: z.union([z.array(z.string()), z.string().transform((text) => text.split(/[\s,]+/))]).optional(),
  seed: seedColumn,
})

/** In the formula instead of something that could not be put there. */
const BLANK = '_'

interface Hand {
  readonly cards: readonly PlayingCard[]
  readonly formula: readonly string[]
}

export function actionsOf({ operators }: PointsRules): ActionNames {
  const numbers = Array.from({ length: 13 }, (_, i) => String(i + 1))
  return new ActionNames([...numbers, ...operators, '='])
}

/**
 * Gym-Card's games of making a number from cards: a formula grows by a number or a sign at a time, and `=` ends it with 10
 * where it uses all cards and reaches the target, otherwise with −1. A number that is not there costs 1 and a place in
 * the formula. Fractions are exact, and two numbers or two signs in a row are not a formula.
 */
export class PointsGame implements Environment {
  readonly #rules: PointsRules
  readonly #actions: ActionNames
  #hand: Hand = { cards: [], formula: [] }

  constructor(rules: PointsRules) {
    this.#rules = rules
    this.#actions = actionsOf(rules)
  }

  reset({ row, seed: given }: EpisodeSpec): Start {
    const { seed = given, cards } = readRow(this.#rules.name, columns, row)
    this.#hand = { cards: cards ? this.#read(cards) : this.#rules.deal(new Pcg64(seed)), formula: [] }
    return { observation: this.#seen() }
  }

  #read(names: readonly string[]): PlayingCard[] {
    const cards = names.flatMap((name) => readCard(name) ?? [])
    const { name, cards: count } = this.#rules
    if (cards.length === count && names.length === count) return cards
    throw rowError(name, 'cards', `expected ${count} cards like HK, D10 or S2`, names)
  }

  step(text: string): Transition {
    const { formula, cards } = this.#hand
    if (formula.length > this.#rules.longest) return this.#transition(-1, true, true)
    const number = this.#actions.numberOf(text)
    const action = number === undefined ? '' : this.#actions.names[number]
    if (action === '=') {
      const won = this.#reaches()
      return this.#transition(won ? 10 : -1, true, true)
    }
    const isTaken = this.#rules.operators.includes(action) || this.#left().includes(action)
    this.#hand = { cards, formula: [...formula, isTaken ? action : BLANK] }
    return this.#transition(isTaken ? 0 : -1, false, isTaken)
  }

  #transition(reward: number, done: boolean, isTaken: boolean): Transition {
    const won = reward === 10
    return { observation: this.#seen(), reward, done, won, metrics: { valid_action: isTaken ? 1 : 0 } }
  }

  #numbers(): string[] {
    return this.#hand.cards.map((card) => String(this.#rules.pointsOf(card)))
  }

  /** Numbers that are not in the formula yet. */
  #left(): string[] {
    const left = this.#numbers()
    for (const part of this.#hand.formula) {
      const at = left.indexOf(part)
      if (at >= 0) left.splice(at, 1)
    }
    return left
  }

  #reaches(): boolean {
    const { formula } = this.#hand
    const value = readArithmetic(formula.filter((part) => part !== BLANK).join(' '))?.value
    return value !== undefined && this.#left().length === 0 && value.n === BigInt(this.#rules.target) * value.d
  }

  admissible(): readonly string[] {
    return [...new Set(this.#left()), ...this.#rules.operators, '=']
  }

  snapshot(): Hand {
    return this.#hand
  }

  restore(snapshot: unknown): void {
    this.#hand = snapshot as Hand
  }

  #seen(): string {
    const { cards, formula } = this.#hand
    const parts = [`Cards: ${cards.map(cardName).join(', ')}`, `Numbers: ${this.#numbers().join(', ')}`]
    return [...parts, `Target: ${this.#rules.target}`, `Formula: ${formula.join(' ')}`].join('. ')
  }
}

export function pointsPersona(style: PromptStyle, rules: PointsRules): Persona {
  const { cards, target, operators, longest } = rules
  const faces =
    rules.pointsOf({ suit: 'H', rank: 13 }) === 10 ? 'J, Q and K count 10' : 'J, Q and K count 11, 12 and 13'
  const text = `You make the number ${target} from ${cards} cards. ${faces}, an ace counts 1; use every card once.
The formula grows by one number or sign with every action, and = says that it is complete.
A complete formula that reaches ${target} earns 10, any other costs 1. A number that you do not have costs 1 and stays as _ in the formula. After ${longest + 1} parts the next action ends the game.
Actions: the numbers of your cards, ${operators.join(' ')} and =.
${FORM}`
  return personaOf(style, {
    actions: actionsOf(rules),
    rules: text,
    prompt: ({ observation }) => observation,
    read: actionField,
    refuse: (observation) => refusal(observation, -1),
  })
}
