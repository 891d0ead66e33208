import type { Config } from '../section/config.js'
import type { Scope } from './scope.js'

export type Engines = {
  /** No GPU is asked for: the engines that run are named in the file and none of them is one of GPUs. */
  offGpu: boolean
  rollout: Config['explorer']['rollout_model']['engine_type']
  trainer: Config['trainer']['trainer_type']
}

const ON_GPU = ['torch', 'vllm', 'sglang', 'verl']

export function runsOnGpu(engine: string): boolean {
  return ON_GPU.includes(engine)
}

/** Which engines run: as named, else torch where it can run, else native. */
export function resolveEngines(config: Config, scope: Scope): Engines {
  const { tinker, external_model: external } = config.model
  const rollout = config.explorer.rollout_model.engine_type
  const trainer = config.trainer.trainer_type === 'verl' ? 'torch' : config.trainer.trainer_type
  if (tinker.enable) return { rollout: 'tinker', trainer: 'tinker', offGpu: true }
  const { gpus, torch } = scope.facts
  const machine = gpus > 0 && torch ? 'torch' : 'native'
  // one side named on GPUs: the other one has to understand its weights
  const partner = [rollout, trainer].some(runsOnGpu) ? 'torch' : machine
  const asked = [
    ...(config.mode === 'train'
      ? []
      : [external.enable ? 'external' : rollout, ...config.explorer.auxiliary_models.map((m) => m.engine_type)]),
    ...(['both', 'train', 'colocate'].includes(config.mode) ? [trainer] : []),
  ]
  return {
    rollout: external.enable ? 'external' : rollout === 'auto' ? partner : rollout,
    trainer: trainer === 'auto' ? partner : trainer,
    offGpu: asked.every((engine) => engine !== 'auto' && !runsOnGpu(engine)),
  }
}

/** The engine of an auxiliary model. */
export function auxiliaryEngine(named: Engines['rollout'], engines: Engines): Engines['rollout'] {
  if (named !== 'auto') return named
  return engines.rollout === 'external' ? 'native' : engines.rollout
}
