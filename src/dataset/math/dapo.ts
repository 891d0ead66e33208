import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { Pcg64 } from '../../base/random/index.js'
import type { MathProblem } from '../../environment/index.js'
import type { DataRow } from '../../task/index.js'
import { dataset } from '../dataset.js'
import type { Place } from '../place.js'
import { distinct, problemsOf } from './problems.js'
import { mathYaml } from './yaml.js'

const args = z.strictObject({
  from: z.string().default('weijiezz/DAPO-Math-17k-split').describe('file, folder, or an id on the hub'),
  test: z.int().positive().default(300).describe('problems that are held out where there is no test split'),
  seed: z.int().nonnegative().default(42).describe('chooses them'),
})

export const dapo = dataset({
  doc: 'DAPO-Math-17k: problems whose answers are whole numbers, each once',
  source: 'weijiezz/DAPO-Math-17k-split, or a copy of DAPO-Math-17k',
  license: 'Apache-2.0 (DAPO-Math-17k)',
  args,
  async prepare(given, place) {
    let made: Promise<Parts> | undefined
    async function* part(name: keyof Parts) {
      made ??= parts(given, place)
      yield* (await made)[name]
    }
    await place.write('train.jsonl', part('train'))
    await place.write('test.jsonl', part('test'))
  },
  yaml: (_, folder) => mathYaml(folder, [{ name: 'dapo', split: 'test' }]),
})

interface Parts {
  readonly train: readonly (MathProblem & DataRow)[]
  readonly test: readonly (MathProblem & DataRow)[]
}

/** The study's own split; else problems that a seed chooses. Nothing of the test is in the training data. */
async function parts({ from, test, seed }: z.output<typeof args>, place: Place): Promise<Parts> {
  const read = (split: string) => all(distinct(problemsOf('dapo', { path: from, splits: [split] }, place)))
  const train = await read('train')
  const own = await read('test').catch((error) => {
    if (error instanceof TrinityError && error.code === 'data/split') return undefined
    throw error
  })
  // Of a single file every split is the same.
  const held = own && own.length !== train.length ? own : drawn(train, test, seed)
  const asked = new Set(held.map(({ question }) => question))
  return { train: train.filter(({ question }) => !asked.has(question)), test: held }
}

function drawn<T>(problems: readonly T[], count: number, seed: number): T[] {
  if (count >= problems.length) {
    throw new TrinityError('args/invalid', `--test: of ${problems.length} problems ${count} cannot be held out`, {
      path: '--test',
    })
  }
  const chosen = new Pcg64(seed).choice(problems.length, count)
  return [...chosen].sort((a, b) => a - b).map((at) => problems[at])
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const row of rows) list.push(row)
  return list
}
