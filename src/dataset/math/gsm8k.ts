import { z } from 'zod'
import { dataset } from '../dataset.js'
import { rowsOf } from '../given.js'
import { mathYaml } from './yaml.js'

export const gsm8k = dataset({
  doc: 'grade school problems, 7,473 to train on and 1,319 to test with',
  source: 'openai/gsm8k, or a copy of it',
  license: 'MIT',
  args: z.strictObject({
    from: z.string().default('openai/gsm8k').describe('folder with train and test, or an id on the hub'),
  }),
  async prepare({ from }, place) {
    for (const split of ['train', 'test']) {
      await place.write(`${split}.jsonl`, rowsOf('gsm8k', { path: from, subset: 'main', splits: [split] }))
    }
  },
  yaml: (_, folder) => mathYaml(folder, [{ name: 'gsm8k', split: 'test' }]),
})
