/** What has to share the GPUs, in GPUs per engine. */
export interface GpuDemand {
  nodes: number
  gpusPerNode: number
  tensorParallel: number
  /** Further parallelism of a rollout engine: data × pipeline. */
  otherParallel: number
  /** GPUs per engine of each auxiliary model. */
  auxiliary: number[]
  /** The trainer's GPUs should be a multiple of this: sequence or Megatron parallel size. */
  trainerMultiple: number
}

export interface GpuSplit {
  colocate: boolean
  engines: number
  tensorParallel: number
  otherParallel: number
  /** Engines of each auxiliary model; empty when there is no room for them. */
  auxiliary: number[]
  trainer: number
}

/**
 * veRL lets rollout and training take turns on the same GPUs; Trinity gives each its own. A veRL script therefore does
 * not say how to split them. The rule: a quarter of the GPUs for rollout, a quarter for each auxiliary model, the rest
 * trains; whole engines, at least one each; on several nodes the trainer gets whole nodes. What does not fit is made
 * smaller in this order: auxiliary engines, the trainer's preferred multiple, the engine's parallel size.
 */
export function splitGpus(given: GpuDemand): GpuSplit {
  // Nobody has more; a slip of the pen must not make this run for hours.
  const demand = {
    ...given,
    nodes: Math.min(given.nodes, 10_000),
    gpusPerNode: Math.min(given.gpusPerNode, 64),
    tensorParallel: Math.min(given.tensorParallel, 1024),
  }
  const total = demand.nodes * demand.gpusPerNode
  if (total <= 1) return { colocate: true, engines: 1, tensorParallel: 1, otherParallel: 1, auxiliary: [], trainer: 1 }
  const share = Math.max(1, Math.floor(total / 4))
  const quarter = demand.auxiliary.map((size) => Math.max(1, Math.floor(share / size)))
  const least = demand.auxiliary.map(() => 1)
  for (const auxiliary of demand.auxiliary.length > 0 ? [quarter, least, []] : [[]]) {
    for (const [tensorParallel, otherParallel] of engineSizes(demand)) {
      for (const multiple of [demand.trainerMultiple, 1]) {
        const split = enginesFor(demand, share, auxiliary, tensorParallel, otherParallel, multiple)
        if (split) return split
      }
    }
  }
  // Two GPUs or more always hold one engine of size 1 beside the trainer.
  return { colocate: false, engines: 1, tensorParallel: 1, otherParallel: 1, auxiliary: [], trainer: total - 1 }
}

/** The wanted engine size first, then smaller ones that divide it. */
function engineSizes(demand: GpuDemand): [number, number][] {
  const smaller = Array.from({ length: demand.tensorParallel }, (_, i) => demand.tensorParallel - i).filter(
    (size) => demand.tensorParallel % size === 0,
  )
  const sizes: [number, number][] = demand.otherParallel > 1 ? [[demand.tensorParallel, demand.otherParallel]] : []
  return [...sizes, ...smaller.map((size): [number, number] => [size, 1])]
}

function enginesFor(
  demand: GpuDemand,
  share: number,
  auxiliary: number[],
  tensorParallel: number,
  otherParallel: number,
  multiple: number,
): GpuSplit | undefined {
  const { nodes, gpusPerNode } = demand
  const size = tensorParallel * otherParallel
  const auxiliaryGpus = auxiliary.reduce((sum, engines, i) => sum + engines * demand.auxiliary[i], 0)
  if (size > gpusPerNode && size % gpusPerNode !== 0) return undefined
  const most = Math.floor((nodes * gpusPerNode - auxiliaryGpus - 1) / size)
  let best: GpuSplit | undefined
  for (let engines = 1; engines <= most; engines++) {
    const trainer = nodes * gpusPerNode - auxiliaryGpus - engines * size
    if (trainer > gpusPerNode && trainer % gpusPerNode !== 0) continue
    if (trainer % multiple !== 0) continue
    const distance = Math.abs(engines * size - share)
    if (best === undefined || distance < Math.abs(best.engines * size - share)) {
      best = { colocate: false, engines, tensorParallel, otherParallel, auxiliary, trainer }
    }
  }
  return best
}
