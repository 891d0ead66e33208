import type { Pcg64 } from '../../base/random/index.js'

/** A card by its suit (H, S, D, C) and its rank from 1, the ace, to 13, the king. */
export interface PlayingCard {
  readonly suit: string
  readonly rank: number
}

const FACES = ['A', '2', '3', '4', '5', '6', '7', '8', '9', 'T', 'J', 'Q', 'K']
const SUITS = 'HSDC'

export const cardName = ({ suit, rank }: PlayingCard): string => suit + FACES[rank - 1]

/** `HK`, `D10`, `S2`; undefined: not a card. */
export function readCard(text: string): PlayingCard | undefined {
  const [, suit, face] = /^([HSDC])(A|[2-9]|10|T|J|Q|K)$/i.exec(text.trim()) ?? []
  return suit === undefined
    ? undefined
    : { suit: suit.toUpperCase(), rank: FACES.indexOf(face === '10' ? 'T' : face.toUpperCase()) + 1 }
}

export const anySuit = (random: Pcg64): string => SUITS[random.below(SUITS.length - 1)]
