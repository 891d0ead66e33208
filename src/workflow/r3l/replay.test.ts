import { rmSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { gamesIn } from '../../../test/alfworld/games.js'
import { testData } from '../../../test/support/test-data.js'
import { HOUSES, rowOf } from '../../environment/alfworld/house.fixture.js'
import { writeCatalogue } from '../../environment/webshop/catalogue.fixture.js'
import { checkReplay, type Place, runIn, tags, wander } from './replay.fixture.js'

const catalogue = writeCatalogue()
afterAll(() => rmSync(catalogue, { recursive: true }))

const brief = { args: { prompt: 'brief' } }
const puzzle = ['1 + 2', '2 * 3 + 1', '6', 'hm'].map((answer) => `<think>so</think><answer>${answer}</answer>`)

/** All worlds that run without downloads, chance and all. */
const PLACES: Readonly<Record<string, Place>> = {
  grid_world: { args: { holes: 0.2 } },
  frozen_lake: { args: { prompt: 'brief', is_slippery: true } },
  cliff_walking: { args: { prompt: 'brief', is_slippery: true } },
  taxi: { args: { prompt: 'brief', is_rainy: true, fickle_passenger: true } },
  blackjack: brief,
  sokoban: { args: { prompt: 'brief', dim_room: 6, num_boxes: 1 } },
  number_line: brief,
  ez_points: brief,
  points24: brief,
  card_blackjack: brief,
  sudoku: { args: { size: 4 }, replies: ['0 0 1', '0 1 2', '1 1 3', '2 2 4', 'hm', '3 3 1'] },
  alfworld: { raw: (seed) => rowOf(HOUSES[seed % HOUSES.length]), form: tags },
  webshop: {
    args: { data: catalogue, human_goals: false },
    replies: ['search[lamp]', 'search[kettle]', 'click[Next >]', 'hm'].map(tags),
    form: tags,
  },
  dapo_math: { raw: (seed) => ({ question: `${seed} + 3?`, answer: String(seed + 3) }), replies: puzzle },
  qwen_math: { raw: () => ({ question: '3?', answer: '3' }), replies: ['\\boxed{2}', '\\boxed{4}', 'hm'] },
  countdown: { raw: () => ({ nums: [1, 2, 3], target: 6 }), replies: puzzle },
}

describe('a retry that follows the same replies', () => {
  it.each(Object.keys(PLACES))('reaches the same state in %s', async (name) => checkReplay(name, PLACES[name], 12))

  it('is an error where the world is another', async () => {
    const run = await runIn('number_line', PLACES.number_line, 1)
    const other = await runIn('number_line', PLACES.number_line, 2)
    const first = await run.episode()
    await wander(first, 1, PLACES.number_line)
    const second = await other.episode()
    await expect(second.repeat(first.turn.past, 1)).rejects.toMatchObject({ code: 'environment/replay' })
  })
})

const games = testData('alfworld/games')
describe(`in the games of ALFWorld${games.note}`, () => {
  it.skipIf(games.absent)('it is the same', async () => {
    const rows = gamesIn('valid_seen').filter((_, at) => at % 20 === 0)
    await checkReplay('alfworld', { raw: (seed) => ({ ...rows[seed % rows.length] }), form: tags }, 10)
  })
})

const shop = testData('webshop/documents_1000.jsonl')
describe(`in the shop of a thousand products${shop.note}`, () => {
  it.skipIf(shop.absent)('it is the same', { timeout: 60_000 }, async () => {
    const args = { data: testData('webshop').path, human_goals: false }
    await checkReplay('webshop', { ...PLACES.webshop, args }, 10)
  })
})
