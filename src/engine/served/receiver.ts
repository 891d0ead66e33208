import type { WeightReceiver } from '../contract.js'
import type { ServerPool } from './pool.js'
import type { ServerGroup } from './server-api.js'
import type { ServedWeights } from './weights.js'

/** How Trinity's torch workers broadcast weights: see the torch engine. */
export const TORCH_PROTOCOL = 'trinity-torch'

/** Takes broadcast weights into all servers of a pool: each is a member of the group. */
export function receiverOf(pool: ServerPool, weights: ServedWeights, path: string): WeightReceiver {
  let release: (() => Promise<void>) | undefined
  let dtype = 'float32'
  const groups = (): ServerGroup[] => pool.up.flatMap(({ api }) => api.group ?? [])
  return {
    protocol: TORCH_PROTOCOL,
    get members() {
      return groups().length
    },
    get generation() {
      return pool.generation
    },
    join: async (group, rank, signal) => {
      const { port, size, seconds } = group as { port: number; size: number; seconds: number }
      dtype = String(group.dtype ?? dtype)
      await Promise.all(groups().map((one, i) => one.join({ port, size, seconds }, rank + i, { signal })))
    },
    hold: async (inFlight, signal) => {
      release = await weights.hold(inFlight, signal)
    },
    receive: async (signal) => {
      const sums = await Promise.all(groups().map((one) => one.receive(path, dtype, { signal })))
      return [...new Set(sums)].join(' ')
    },
    commit: async (version) => {
      try {
        if (version === undefined) return
        await Promise.all(groups().map((one) => one.install(String(version))))
        weights.arrived(version)
      } finally {
        await release?.()
        release = undefined
      }
    },
  }
}
