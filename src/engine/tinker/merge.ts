import { join } from 'node:path'
import { writeModelConfig } from '../../model/config-json.js'
import { type ModelDir, openModelDir } from '../../model/dir.js'
import { SafetensorsFile } from '../../model/safetensors.js'
import { type TensorToWrite, writeSafetensors } from '../../model/safetensors-write.js'
import { factorNames } from '../lora-targets.js'
import { type AdapterConfig, moduleOf, readAdapterConfig } from '../native/adapter-config.js'
import { peftName } from '../native/lora.js'

/** Why an adapter is not merged: there are no weights here, or it changes something that they do not have. */
export type Unmerged = 'no weights' | 'unknown modules'

/** Writes the weights of a model with an adapter added to them, in f32, and its configuration. */
export async function mergeAdapter(base: string, adapter: string, to: string): Promise<Unmerged | undefined> {
  const model = await openModelDir(base, { unchecked: true }).catch(() => undefined)
  if (!model) return 'no weights'
  const file = await SafetensorsFile.open(join(adapter, 'adapter_model.safetensors'))
  try {
    const config = await readAdapterConfig(adapter, false)
    const modules = model.tensorNames().filter((name) => name.endsWith('.weight') && hasFactors(file, name))
    if (modules.length * 2 !== file.tensors.size) return 'unknown modules'
    await writeSafetensors(
      join(to, 'model.safetensors'),
      model.tensorNames().map((name) => tensor(model, file, config, name)),
    )
    await writeModelConfig(to, inFloat32(model))
    return undefined
  } finally {
    await file.close()
    await model.close()
  }
}

const moduleOfWeight = (name: string) => name.slice(0, -'.weight'.length)
const factors = (name: string) => factorNames(moduleOfWeight(name)).map(peftName)

function hasFactors(file: SafetensorsFile, name: string): boolean {
  return factors(name).every((factor) => file.tensors.has(factor))
}

function tensor(model: ModelDir, file: SafetensorsFile, config: AdapterConfig, name: string): TensorToWrite {
  const { shape } = model.tensorInfo(name)
  const data = async () => {
    const weight = await model.readTensor(name)
    if (!name.endsWith('.weight') || !hasFactors(file, name)) return weight
    const [a, b] = await Promise.all(factors(name).map((factor) => file.readFloat32(factor)))
    const { rank, scale } = moduleOf(config, moduleOfWeight(name))
    return added(weight, a, b, rank, scale)
  }
  return { name, dtype: 'F32', shape, data }
}

/** W + scale · B · A, in place. */
function added(weight: Float32Array, a: Float32Array, b: Float32Array, rank: number, scale: number): Float32Array {
  const width = a.length / rank
  for (let row = 0; row * width < weight.length; row++) {
    for (let k = 0; k < rank; k++) {
      const by = scale * b[row * rank + k]
      if (by === 0) continue
      for (let i = 0; i < width; i++) weight[row * width + i] += by * a[k * width + i]
    }
  }
  return weight
}

function inFloat32({ configJson }: ModelDir): Record<string, unknown> {
  const json: Record<string, unknown> = { ...configJson }
  for (const key of ['dtype', 'torch_dtype']) if (key in json) json[key] = 'float32'
  return json
}
