import { z } from 'zod'
import { Mt19937 } from '../../base/random/index.js'
import { dataset } from '../dataset.js'
import { splitsOf } from './splits.js'
import { worldYaml } from './yaml.js'

const args = z.strictObject({
  train: z.int().nonnegative().default(10_000),
  test: z.int().nonnegative().default(100),
  max_size: z.int().min(2).max(20).default(5).describe('the largest map; the smallest has two fields a side'),
  seed: z.int().nonnegative().default(42),
})

interface MapRow extends Record<string, unknown> {
  readonly seed: number
  readonly size: number
  readonly p: number
  readonly index: number
  readonly uid: string
}

/**
 * Seed, size and share of ice of each map. They are drawn like those of the original's script, by
 * `numpy.random.seed`, `randint` and `uniform` in its order, so that they are the same maps.
 */
export function drawMaps({ train, test, max_size, seed }: z.output<typeof args>): { train: MapRow[]; test: MapRow[] } {
  const random = new Mt19937(seed)
  const draw = (count: number, one: () => number) => Array.from({ length: count }, one)
  const both = (one: () => number) => ({ train: draw(train, one), test: draw(test, one) })
  const seeds = both(() => random.below(99_999))
  const sizes = both(() => 2 + random.below(max_size - 2))
  const shares = both(() => 0.6 + (0.85 - 0.6) * random.random())
  const rows = (split: 'train' | 'test') =>
    seeds[split].map((seed, index) => {
      const [size, p] = [sizes[split][index], shares[split][index]]
      return { seed, size, p, index, uid: `${seed}_${size}_${p}` }
    })
  return { train: rows('train'), test: rows('test') }
}

export const frozenLakeMaps = dataset({
  doc: 'maps of a frozen lake by seed, size and share of ice',
  source: "generated like the original's examples/grpo_frozen_lake",
  license: 'none needed',
  args,
  async prepare(given, place) {
    const maps = drawMaps(given)
    for (const split of ['train', 'test'] as const) {
      if (given[split] > 0) await place.write(`${split}.jsonl`, maps[split])
    }
  },
  yaml: (given, folder) => worldYaml('frozen_lake', folder, { workflow: 'frozen_lake_workflow' }, splitsOf(given)),
})
