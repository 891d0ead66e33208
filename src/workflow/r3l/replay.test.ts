import { rmSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { gamesIn } from '../../../test/alfworld/games.js'
import { testData } from '../../../test/support/test-data.js'
import { contextOf, modelOf, speaker, taskOf } from '../../../test/support/workflow-kit.js'
import { Pcg64 } from '../../base/random/index.js'
import { HOUSES, rowOf } from '../../environment/alfworld/house.fixture.js'
import type { Episode } from '../../environment/index.js'
import { writeCatalogue } from '../../environment/webshop/catalogue.fixture.js'
import { EnvironmentRun } from '../environment/run.js'

const catalogue = writeCatalogue()
afterAll(() => rmSync(catalogue, { recursive: true }))

interface Place {
  readonly args?: Record<string, unknown>
  readonly raw?: (seed: number) => Record<string, unknown>
  /** For worlds that do not list their actions, or want them in a form. */
  readonly replies?: readonly string[]
  readonly form?: (action: string) => string
}

const brief = { args: { prompt: 'brief' } }
const tags = (action: string) => `<think>so</think><action>${action}</action>`
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

async function runIn(environment: string, { args = {}, raw = (seed) => ({ seed }) }: Place, seed: number) {
  const task = taskOf({ raw: raw(seed), taskDesc: undefined, index: { taskset: 0, row: seed } })
  const context = contextOf(modelOf(await speaker(undefined)), { task })
  return new EnvironmentRun(context, { environment, environment_args: args, max_env_steps: 12 })
}

/** Goes on at random up to the end. */
async function wander(episode: Episode, seed: number, { replies, form = (action) => action }: Place): Promise<void> {
  const random = new Pcg64(seed)
  while (!episode.over) {
    const said = [...(episode.turn.admissible?.map(form) ?? []), ...(replies ?? ['hm'])]
    await episode.reply(said[random.below(said.length - 1)])
  }
}

async function check(name: string, place: Place, numRuns: number): Promise<void> {
  const numbers = fc.tuple(fc.nat(1000), fc.nat(1000), fc.nat(11))
  await fc.assert(
    fc.asyncProperty(numbers, async ([seed, walk, pivot]) => {
      const run = await runIn(name, place, seed)
      const first = await run.episode()
      await wander(first, walk, place)
      const { past } = first.turn
      const second = await run.again()
      await second.repeat(past, Math.min(pivot, past.length - 1))
      for (const { reply } of past.slice(second.turn.step)) await second.reply(reply)
      expect(second.turn).toEqual(first.turn)
      expect([second.score, second.won, second.over]).toEqual([first.score, first.won, first.over])
      await run.close()
    }),
    { numRuns },
  )
}

describe('a retry that follows the same replies', () => {
  it.each(Object.keys(PLACES))('reaches the same state in %s', async (name) => check(name, PLACES[name], 12))

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
    await check('alfworld', { raw: (seed) => ({ ...rows[seed % rows.length] }), form: tags }, 10)
  })
})

const shop = testData('webshop/documents_1000.jsonl')
describe(`in the shop of a thousand products${shop.note}`, () => {
  it.skipIf(shop.absent)('it is the same', { timeout: 60_000 }, async () => {
    const args = { data: testData('webshop').path, human_goals: false }
    await check('webshop', { ...PLACES.webshop, args }, 10)
  })
})
