import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { dataset } from '../dataset.js'
import type { Place } from '../place.js'
import { type EvalSet, evalSets, filesBelow } from './eval-sets.js'
import { problemsOf } from './problems.js'
import { mathYaml } from './yaml.js'

const names = evalSets.map(({ name }) => name) as [string, ...string[]]

const args = z.strictObject({
  from: z.array(z.string()).default([]).describe('folders with the files; what is not there comes from the hub'),
  sets: z.array(z.enum(names)).nonempty().default(names).describe('which of them'),
})

export const mathEval = dataset({
  doc: 'the eight test sets of mathematics that models are compared with',
  source: 'files of the sets, or weijiezz/math-datasets-100k and weijiezz/DAPO-Math-17k-split',
  license: 'GSM8K and MATH: MIT; DAPO: Apache-2.0; the others are of their organizers, for evaluation only',
  args,
  async prepare({ from, sets }, place) {
    const files = await filesBelow(from)
    const missing: string[] = []
    for (const one of evalSets.filter(({ name }) => sets.includes(name))) {
      const file = files.find(({ stem }) => one.files.test(stem))
      try {
        await take(one, file?.path, place)
      } catch (error) {
        if (!(error instanceof TrinityError) || !error.code.startsWith('hub/')) throw error
        missing.push(`${one.name} (${error.message}; ${getting(one)})`)
      }
    }
    if (missing.length === 0) return
    throw new TrinityError(
      'dataset/incomplete',
      `${missing.length} of ${sets.length} sets are missing: ${missing.join('; ')}`,
      {
        path: place.folder,
        hint: 'the others are written; the same command with --from FOLDER takes the rest from there',
      },
    )
  },
  yaml: ({ sets }, folder) =>
    mathYaml(
      folder,
      sets.map((name) => ({ name, split: name })),
      false,
    ),
})

/** A file that is not as long as the set says so: copies of these sets differ. */
async function take({ name, problems, hub }: EvalSet, file: string | undefined, place: Place): Promise<void> {
  const given = file === undefined ? hub : { path: file, splits: ['train'] }
  const { rows } = await place.write(`${name}.jsonl`, problemsOf('math_eval', given, place), {
    ...given,
  })
  if (rows !== problems) place.logger?.warn(`${name}: ${rows} problems, while the set has ${problems} (${given.path})`)
}

function getting({ name, hub }: EvalSet): string {
  if (name === 'dapo') return 'trinity data dapo --from FILE holds problems out of DAPO-Math-17k'
  return `hf download ${hub.path} --repo-type dataset --local-dir ${hub.path.split('/')[1]}`
}
