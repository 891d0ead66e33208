import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createModel } from '../../dist/model/create.js'

const real = join(process.env.TRINITY_TEST_DATA ?? '', 'models/minimind2_small_hf')

/** Paths of the models of the targets. A 26M model of the same shape stands in where the real one is absent. */
export async function models(folder) {
  const small = join(folder, 'small')
  await createModel({ out: small, hidden: 256, layers: 4, heads: 4, intermediate: 704, vocab: 272, tie: true })
  if (existsSync(real)) return { big: real, small }
  const big = join(folder, 'big')
  const shape = { hidden: 512, layers: 8, heads: 8, kvHeads: 2, intermediate: 1408, vocab: 6400, tie: true }
  await createModel({ out: big, ...shape, dtype: 'F16' })
  return { big, small }
}
