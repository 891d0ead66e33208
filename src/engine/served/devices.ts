import { type Config, planGpus } from '../../config/index.js'
import { cudaDevices } from '../../machine/python/gpus.js'

/** The GPUs of this machine, as CUDA_VISIBLE_DEVICES names them. */
function visibleDevices(): string[] {
  const count = cudaDevices()
  const given = process.env.CUDA_VISIBLE_DEVICES?.split(',').map((one) => one.trim())
  return (given ?? Array.from({ length: count }, (_, i) => String(i))).slice(0, count)
}

/** The GPUs of server number `index` of the rollouts, or of an auxiliary model. Undefined: there are none, or they are not split. */
export function devicesOf(
  config: Config,
  index: number,
  auxiliary: number | undefined,
  names = visibleDevices(),
): string | undefined {
  const plan = planGpus(config)
  const gpus = (auxiliary === undefined ? plan?.rollout : plan?.auxiliary[auxiliary])?.[index] ?? []
  if (names.length === 0 || gpus.length === 0) return undefined
  return gpus.map((gpu) => names[gpu.index]).join(',')
}
