import { openModelDir } from '../../src/model/dir.js'
import type { FloatDtype } from '../../src/model/dtype.js'
import { Gaussian } from '../../src/model/gaussian.js'
import { saveModel } from '../../src/model/save.js'

/** Gives a new model wider matrices and norms that are not all alike, so that its tokens are far from equally likely. */
export async function spreadWeights(path: string): Promise<void> {
  const dir = await openModelDir(path)
  const tensors = await Promise.all(
    dir.tensorNames().map(async (name) => {
      const { dtype, shape } = dir.tensorInfo(name)
      const noise = new Gaussian(1, name)
      const values = await dir.readTensor(name)
      // An embedding that is the head as well would make every token its own successor.
      const wider = name.includes('embed_tokens') ? 3 : 8
      const data = values.map((value) => (shape.length > 1 ? wider * value : value + 0.25 * noise.next()))
      return { name, dtype: dtype as FloatDtype, shape, data: () => data }
    }),
  )
  await dir.close()
  await saveModel(path, { configJson: dir.configJson, tensors })
}
