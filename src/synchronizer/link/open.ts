import { TrinityError } from '../../base/error.js'
import type { WeightWay } from '../../engine/contract.js'
import { checkpointLink, type WriteWeights } from './checkpoint.js'
import type { LinkEnds, WeightLink } from './link.js'
import { memoryLink, sharesMemory } from './memory.js'
import { canBroadcast, ncclLink } from './nccl.js'

export interface LinkOptions {
  /** `synchronizer.sync_method`; absent: the cheapest way that both sides have. */
  readonly method?: WeightWay
  /** Where weights go that travel by checkpoint. */
  readonly write: WriteWeights
}

/** Cheapest first. Each says whether it can join these two ends, and does. */
const WAYS: readonly {
  readonly way: WeightWay
  readonly joins: (ends: LinkEnds) => boolean
  readonly open: (ends: LinkEnds, options: LinkOptions) => WeightLink
}[] = [
  { way: 'memory', joins: sharesMemory, open: memoryLink },
  { way: 'nccl', joins: canBroadcast, open: ncclLink },
  { way: 'checkpoint', joins: () => true, open: (ends, { write }) => checkpointLink(ends, write) },
]

/** Where the weights are in reach already, nothing is sent over a network for them. */
const MEANS: Readonly<Record<WeightWay, readonly WeightWay[]>> = {
  memory: ['memory'],
  nccl: ['memory', 'nccl'],
  checkpoint: ['checkpoint'],
}

/** Joins a trainer with its samplers, whatever engines they are of. */
export function openLink(ends: LinkEnds, options: LinkOptions): WeightLink {
  const { sends, takes } = ends
  const common = WAYS.filter(
    ({ way, joins }) => sends.caps.weights.includes(way) && takes.caps.weights.includes(way) && joins(ends),
  )
  const chosen = common.find(({ way }) => options.method === undefined || MEANS[options.method].includes(way))
  if (chosen) return chosen.open(ends, options)
  const ways = common.map(({ way }) => way).join(', ') || 'none'
  throw new TrinityError(
    'sync/no-way',
    `weights cannot go from ${sends.name} to ${takes.name}${options.method ? ` by ${options.method}` : ''}`,
    {
      path: 'synchronizer.sync_method',
      hint:
        `${sends.name} can send by ${sends.caps.weights.join(', ')}; ${takes.name} can take by ` +
        `${takes.caps.weights.join(', ')}; between these two: ${ways}`,
    },
  )
}
