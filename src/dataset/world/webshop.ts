import { join } from 'node:path'
import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { PythonRandom } from '../../base/random/index.js'
import {
  buildCatalogue,
  CATALOGUE,
  DOWNLOADS,
  findFiles,
  type Goals,
  openShop,
} from '../../environment/webshop/index.js'
import type { DataRow } from '../../task/index.js'
import { dataset } from '../dataset.js'
import { worldYaml } from './yaml.js'

const args = z.strictObject({
  from: z.string().default('').describe('folder of WebShop, or of its data; otherwise WEBSHOP_PATH'),
  num_products: z.int().positive().optional().describe('the first so many; all otherwise'),
  goals: z.enum(['human', 'synthetic']).default('human').describe('instructions by people, or made from attributes'),
  train: z.int().positive().default(4096).describe('how many sessions at most'),
  test: z.int().positive().default(100),
  seed: z.int().nonnegative().default(0).describe('for prices and price limits; and which products are held out'),
})

/** Of the goals there may be fewer than are asked for: so much of them is for the test at most. */
const TEST_SHARE = 0.2

interface Split {
  readonly train: readonly number[]
  readonly test: readonly number[]
}

/** The splits of the study: the first sessions, and those that follow. */
export function splitSessions(count: number, most: { train: number; test: number }): Split {
  const test = Math.min(most.test, Math.floor(count * TEST_SHARE))
  const train = Math.min(most.train, count - test)
  const sessions = Array.from({ length: train + test }, (_, session) => session)
  return { train: sessions.slice(0, train), test: sessions.slice(train) }
}

/** Goals that are made from one product are alike: no product is in both. */
export function splitProducts(goals: Goals, most: { train: number; test: number }, seed: number): Split {
  const sessions = new Map<number, number[]>()
  for (let session = 0; session < goals.count; session++) {
    const product = goals.product(session)
    const known = sessions.get(product)
    if (known) known.push(session)
    else sessions.set(product, [session])
  }
  const products = [...sessions.keys()]
  new PythonRandom(seed).shuffle(products)
  const held = Math.ceil(products.length * (TEST_SHARE / 2))
  const those = (part: readonly number[], count: number) =>
    part
      .flatMap((product) => sessions.get(product) ?? [])
      .sort((a, b) => a - b)
      .slice(0, count)
  return { test: those(products.slice(0, held), most.test), train: those(products.slice(held), most.train) }
}

export const webshopSessions = dataset({
  doc: 'sessions of WebShop, by people in the splits of the R3L study, with the catalogue ready to be searched',
  source: 'WebShop (princeton-nlp/WebShop); products of Amazon',
  license: 'MIT',
  args,
  async prepare({ from, num_products, goals: kind, train, test, seed }, place) {
    const folder = from || process.env.WEBSHOP_PATH
    if (!folder) {
      throw new TrinityError('dataset/download', 'the products of WebShop have to be fetched first', {
        hint: `${DOWNLOADS}\nthen: trinity data webshop --from FOLDER`,
      })
    }
    const { logger, signal } = place
    const products = num_products ?? null
    const files = await findFiles(folder, products)
    await buildCatalogue(files, join(place.folder, CATALOGUE), { products, logger, signal })
    const human = kind === 'human'
    const { goals, catalogue } = await openShop({ data: place.folder, num_products: null, human_goals: human, seed })
    logger?.info(`${catalogue.size} products, ${goals.count} goals`)
    const split = human ? splitSessions(goals.count, { train, test }) : splitProducts(goals, { train, test }, seed)
    const row = (session: number): DataRow => ({
      task_desc: String(session),
      instruction: goals.goal(session).instruction,
    })
    for (const part of ['train', 'test'] as const) await place.write(`${part}.jsonl`, split[part].map(row))
  },
  yaml: ({ goals, seed }, folder) => {
    const environment_args = { data: folder, human_goals: goals === 'human', seed }
    const played = { workflow: 'environment_workflow', args: { environment: 'webshop', environment_args } }
    return worldYaml('webshop', folder, played, ['train', 'test'])
  },
})
