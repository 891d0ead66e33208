import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import type { LogDir } from '../base/log/logger.js'
import type { Config } from '../config/index.js'
import { pythonHaving } from '../machine/python/having.js'
import { RayGround } from '../machine/ray/ground.js'
import { rayCluster } from '../machine/ray/running.js'

export interface OnRaySettings {
  readonly logs?: LogDir
  note(text: string): void
}

/** Where a configuration has Ray place the workers; undefined: they are processes of this machine. */
export async function onRay(config: Config, { logs, note }: OnRaySettings): Promise<RayGround | undefined> {
  const { cluster, monitor, ray_namespace: namespace } = config
  const address = await rayCluster(cluster.ray_address)
  if (address === undefined) {
    if (monitor.enable_ray_timeline) note('monitor.enable_ray_timeline: there is no Ray here, and no timeline of it')
    return undefined
  }
  const python = pythonHaving('ray')
  if (python === undefined) {
    throw new TrinityError(
      'ray/python',
      `workers are to be placed by the Ray at ${address}, and no Python here has Ray`,
      {
        path: 'cluster.ray_address',
        hint: 'set TRINITY_RAY_PYTHON to a Python with it, or cluster.ray_address to local for this machine alone',
      },
    )
  }
  const logger = logs?.logger('ray')
  const timeline = monitor.enable_ray_timeline ? join(monitor.cache_dir, 'timeline.json') : undefined
  const log = (line: string) => logger?.info(line)
  const ground = await RayGround.open({ address, namespace, python, timeline, log })
  const { version, nodes } = ground.cluster
  note(`Ray ${version} at ${address} places the workers: ${nodes.length} nodes, ${ground.gpus} GPUs`)
  return ground
}
