import * as vitest from 'vitest'
import { describe, expect, it } from 'vitest'
import { describeEnvironment } from '../../testing/environment.js'
import { openEnvironment } from '../index.js'

describeEnvironment(vitest, 'card_blackjack', {
  open: () => openEnvironment('card_blackjack'),
  episodes: [1, 2, 3, 4].map((seed) => ({ row: { seed }, seed: 0 })),
  ending: { episode: { row: { seed: 0 }, seed: 0 }, actions: ['hit', 'hit'] },
  refused: ({ metrics }) => metrics?.valid_action === 0,
})

/**
 * Seeds 0, 1, 2, … as NumPy draws them in the order of Gym-Card's program, for a player who takes cards up to 16:
 * player|dealer's open card > both hands at the end, and the reward.
 */
const GAMES = `A A|Q > A A Q Q|Q 4 -1
2 J|7 > 2 J 6|7 J 1
J 5|J > J 5 K|J 4 -1
Q A|J > Q A|J 4 9 1
J 6|K > J 6|K 7 -1
7 9|9 > 7 9|9 A -1
Q 5|6 > Q 5 3|6 7 6 -1
J 4|K > J 4 A K|K K -1
9 9|J > 9 9|J J -1
8 K|6 > 8 K|6 J K 1
J J|J > J J|J 3 9 1
8 A|2 > 8 A|2 Q 6 1
3 3|8 > 3 3 7 Q|8 J -1
J 2|K > J 2 8|K K 0
2 5|2 > 2 5 9|2 9 8 -1`.split('\n')

const VALUES: Record<string, number> = { A: 1, J: 10, Q: 10, K: 10 }

function sumOf(cards: string): number {
  const values = cards.split(', ').map((card) => VALUES[card] ?? Number(card))
  const sum = values.reduce((all, value) => all + value, 0)
  return values.includes(1) && sum + 10 <= 21 ? sum + 10 : sum
}

describe('card_blackjack', () => {
  it("draws as Gym-Card's program does and pays 1, 0 or −1", async () => {
    const world = await openEnvironment('card_blackjack')
    for (const [seed, game] of GAMES.entries()) {
      const [start, end] = game.split(' > ')
      let { observation } = await world.reset({ row: { seed }, seed: 9 })
      const shown = () =>
        /^Dealer's card: (\w+)\. Player's cards: ([^.]+)\.(?: The dealer has (.+)\.)?$/.exec(observation)!
      const cards = (text: string) => text.replaceAll(', ', ' ')
      expect(`${cards(shown()[2])}|${shown()[1]}`).toBe(start)
      for (;;) {
        const step = await world.step(sumOf(shown()[2]) < 16 ? 'hit' : 'stand')
        observation = step.observation
        if (!step.done) continue
        expect(`${cards(shown()[2])}|${cards(shown()[3])} ${step.reward}`).toBe(end)
        break
      }
    }
  })
})
