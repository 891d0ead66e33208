import { TrinityError } from '../base/error.js'

export interface EngineQuestion {
  readonly nodes: number
  readonly gpusPerNode: number
  /** GPUs of an engine. */
  readonly parallelSize: number
  /** Engines for each GPU that trains, as near as it gets. */
  readonly ratio: number
  /** Sequences of a step: every GPU that trains gets as many. */
  readonly batch: number
}

/**
 * Rollout engines for a cluster. On one node the GPUs are divided one by one, on several node by node; among the divisions in
 * which the batch goes evenly over the GPUs that train, the one nearest to the ratio is taken, of two such the one that trains on fewer.
 */
export function engineCount({ nodes, gpusPerNode, parallelSize, ratio, batch }: EngineQuestion): number {
  const total = nodes * gpusPerNode
  // one GPU is shared by both sides
  if (total <= 1) return 1
  const unit = nodes === 1 ? 1 : gpusPerNode
  const divisions = Array.from({ length: total / unit - 1 }, (_, i) => {
    const training = (i + 1) * unit
    const engines = (total - training) / parallelSize
    return { training, engines, distance: Math.abs(engines / training - ratio) }
  })
  const possible = divisions.filter(({ training, engines }) => batch % training === 0 && Number.isInteger(engines))
  const [first, ...others] = possible
  if (first === undefined) throw noDivision(batch, total, parallelSize)
  return others.reduce((best, one) => (one.distance < best.distance ? one : best), first).engines
}

function noDivision(batch: number, total: number, parallelSize: number): TrinityError {
  return new TrinityError(
    'benchmark/engines',
    `${total} GPUs cannot be divided so that engines have ${parallelSize} each and the others share ${batch} sequences evenly`,
    { path: '--engine-num', hint: 'give --engine-num, or another --tp-size, --node-num or --gpu-per-node' },
  )
}
