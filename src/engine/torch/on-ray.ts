import { join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import type { Config } from '../../config/index.js'
import { pythonHaving } from '../../machine/python/having.js'
import { RayGround } from '../../machine/ray/ground.js'
import { rayCluster } from '../../machine/ray/running.js'
import type { EngineContext } from '../description.js'
import type { TorchOptions } from './options.js'

type OnRay = Pick<TorchOptions, 'ground' | 'device'>

/** Where a configuration has Ray place the workers; nothing, where they are processes of this machine. */
export async function onRay(config: Config, { logs, note }: EngineContext): Promise<OnRay> {
  const { cluster, monitor, ray_namespace: namespace } = config
  const address = await rayCluster(cluster.ray_address)
  if (address === undefined) {
    if (monitor.enable_ray_timeline) note('monitor.enable_ray_timeline: there is no Ray here, and no timeline of it')
    return {}
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
  const gpus = nodes.reduce((sum, node) => sum + node.gpus, 0)
  note(`Ray ${version} at ${address} places the workers: ${nodes.length} nodes, ${gpus} GPUs`)
  return { ground, device: gpus > 0 ? 'cuda' : 'cpu' }
}
