import type { Config, InferenceModelConfig } from '../../config/index.js'
import { cudaDevices } from '../../machine/python/gpus.js'

/**
 * The GPUs of server number `index` of a model, as CUDA_VISIBLE_DEVICES names them: those behind the trainer's, and
 * behind those of the models that were opened before. Undefined: there are none, or they are not split.
 */
export function devicesOf(config: Config, model: InferenceModelConfig, index: number, before = 0): string | undefined {
  const { gpu_per_engine: each, cuda_visible_devices: fixed } = model
  if (cudaDevices() === 0 || each === 0) return undefined
  const visible = process.env.CUDA_VISIBLE_DEVICES?.split(',').map((one) => one.trim())
  const names = visible ?? Array.from({ length: cudaDevices() }, (_, i) => String(i))
  if (fixed !== null) return names.slice(0, each).join(',')
  const first = config.cluster.trainer_gpu_num + before + index * each
  return names.slice(first, first + each).join(',')
}
