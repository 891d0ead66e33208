import type { Config, InferenceModelConfig } from '../../config/index.js'
import { cudaDevices } from '../../machine/python/gpus.js'

/** The GPUs of this machine, as CUDA_VISIBLE_DEVICES names them. */
function visibleDevices(): string[] {
  const count = cudaDevices()
  const given = process.env.CUDA_VISIBLE_DEVICES?.split(',').map((one) => one.trim())
  return (given ?? Array.from({ length: count }, (_, i) => String(i))).slice(0, count)
}

/**
 * The GPUs of server number `index` of a model: those behind the trainer's, and behind the `before` GPUs of models that
 * were opened earlier. Undefined: there are none, or they are not split.
 */
export function devicesOf(
  { cluster }: Pick<Config, 'cluster'>,
  { gpu_per_engine: each, cuda_visible_devices: shared }: InferenceModelConfig,
  index: number,
  before: number,
  names = visibleDevices(),
): string | undefined {
  if (names.length === 0 || each === 0) return undefined
  const first = shared === null ? cluster.trainer_gpu_num + before + index * each : 0
  return names.slice(first, first + each).join(',')
}
