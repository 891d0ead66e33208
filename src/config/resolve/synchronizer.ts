import type { Config } from '../section/config.js'
import { offlineSyncInterval } from './algorithm.js'
import type { Engines } from './engine.js'
import { isOffline, type Scope } from './scope.js'

type Synchronizer = Config['synchronizer']

export function resolveSynchronizer(config: Config, engines: Engines, scope: Scope): Synchronizer {
  const given = config.synchronizer
  const interval = offlineSyncInterval(config, scope)
  if (given.sync_style === 'fully_async' && config.buffer.explorer_input.eval_tasksets.length > 0) {
    const text = 'weights change while an evaluation would run'
    scope.error('value', 'synchronizer.sync_style', text, 'leave out eval_tasksets, or evaluate with mode: bench')
  }
  return {
    ...given,
    sync_method: method(config, engines, scope),
    sync_interval: interval,
    explorer_sync_interval: given.explorer_sync_interval ?? interval,
    trainer_sync_interval: given.trainer_sync_interval ?? interval,
    explorer_world_size: config.cluster.rollout_gpu_num,
    ray_namespace: config.ray_namespace,
  }
}

/**
 * nccl needs explorer and trainer in one run, on GPUs, with whole weights; as it is also what a file that says nothing
 * gets, anything cheaper or more general takes its place where it cannot be.
 */
function method(config: Config, { trainer, rollout }: Engines, scope: Scope): Synchronizer['sync_method'] {
  const asked = config.synchronizer.sync_method
  if (isOffline(scope)) return 'checkpoint'
  const same = trainer.name === rollout.name
  if (asked === 'memory' && config.mode === 'both' && !same) {
    const text = `weights cannot stay in memory between the ${trainer.name} and the ${rollout.name} engine`
    scope.error('value', 'synchronizer.sync_method', text, 'use checkpoint, or one engine for both')
  }
  if (asked !== 'nccl') return asked
  if (config.mode === 'colocate') return 'memory'
  if (config.mode !== 'both') return 'checkpoint'
  if (same && trainer.weights.includes('nccl')) return config.model.lora_configs?.length ? 'checkpoint' : 'nccl'
  // between two engines only where the file asks for it; a server that runs already is in no group
  const both = [trainer, rollout].every(({ weights }) => weights.includes('nccl'))
  const own = config.explorer.rollout_model.base_url === null
  if (both && own && scope.isSet('synchronizer.sync_method')) return 'nccl'
  const [way, why] = !same
    ? (['checkpoint', 'explorer and trainer use different engines'] as const)
    : trainer.weights.includes('memory')
      ? (['memory', 'explorer and trainer are one process'] as const)
      : (['checkpoint', `the ${trainer.name} engine hands weights over in folders`] as const)
  if (scope.isSet('synchronizer.sync_method')) {
    scope.note('value', 'synchronizer.sync_method', `nccl means ${way} here: ${why}`)
  }
  return way
}
