import { z } from 'zod'
import { dataset } from '../dataset.js'
import { problemsOf } from './problems.js'
import { mathYaml } from './yaml.js'

export const math = dataset({
  doc: 'competition problems: MATH to train on, MATH-500 to test with',
  source: 'weijiezz/math-datasets-100k, or files of MATH and MATH-500',
  license: 'MIT (MATH); the problems are of contests, whose organizers hold the rights',
  args: z.strictObject({
    from: z.string().default('weijiezz/math-datasets-100k').describe('folder with both files, or an id on the hub'),
  }),
  async prepare({ from }, place) {
    const train = { path: from, splits: ['train'] }
    const test = { path: from, splits: ['test_math500', 'math500', 'test'] }
    await place.write('train.jsonl', problemsOf('math', train, place))
    await place.write('test.jsonl', problemsOf('math', test, place))
  },
  yaml: (_, folder) => mathYaml(folder, [{ name: 'math500', split: 'test' }]),
})
