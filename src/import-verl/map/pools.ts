import { type GpuDemand, type GpuSplit, splitGpus } from './gpus.js'

/** GPUs that a script sets apart, on top of the trainer's. */
export interface Pool {
  nodes: number
  gpusPerNode: number
}

/**
 * The split for scripts that do say who gets which GPUs: the asynchronous recipes (`rollout.nnodes`) and reward models
 * with a resource pool. Undefined when the script has no such pools or they do not add up to whole nodes and engines.
 */
export function splitPools(
  demand: GpuDemand,
  rollout: Pool | undefined,
  models: { tensorParallel: number; pool?: Pool }[],
): { split: GpuSplit; nodes: number; gpusPerNode: number } | undefined {
  const pools = [...(rollout ? [rollout] : []), ...models.flatMap((model) => model.pool ?? [])]
  if (pools.length === 0 || models.some((model) => model.pool === undefined)) return undefined
  const auxiliary = models.map(({ pool, tensorParallel }) => (pool!.nodes * pool!.gpusPerNode) / tensorParallel)
  const own = rollout ? fillPool(demand, rollout) : splitGpus({ ...demand, auxiliary: [] })
  if (own === undefined || own.colocate || !auxiliary.every(Number.isInteger)) return undefined
  const split = { ...own, auxiliary }
  const gpus = (list: Pool[]) => list.reduce((sum, pool) => sum + pool.nodes * pool.gpusPerNode, 0)
  if (pools.every((pool) => pool.gpusPerNode === demand.gpusPerNode)) {
    const nodes = demand.nodes + pools.reduce((sum, pool) => sum + pool.nodes, 0)
    return { split, nodes, gpusPerNode: demand.gpusPerNode }
  }
  // Parts of one machine: six GPUs train, two roll out.
  const single = demand.nodes === 1 && pools.every((pool) => pool.nodes === 1)
  return single ? { split, nodes: 1, gpusPerNode: demand.gpusPerNode + gpus(pools) } : undefined
}

function fillPool(demand: GpuDemand, pool: Pool): GpuSplit | undefined {
  const { tensorParallel, otherParallel } = demand
  const engines = (pool.nodes * pool.gpusPerNode) / (tensorParallel * otherParallel)
  // Engines that do not fill their pool would leave GPUs to the trainer and break the split the script asks for.
  if (!Number.isInteger(engines) || engines < 1) return undefined
  return {
    colocate: false,
    engines,
    tensorParallel,
    otherParallel,
    auxiliary: [],
    trainer: demand.nodes * demand.gpusPerNode,
  }
}
