import { TrinityError } from '../../base/error.js'
import { type Config, type Facts, trainsIn } from '../../config/index.js'
import { engineNamed, engines } from '../../engine/registry.js'
import { type Refusal, refusalOf } from './refusal.js'

/** Keys and names of the engines that a run of this configuration opens. */
function* enginesOf({ mode, trainer, explorer }: Config): Generator<[key: string, name: string]> {
  if (trainsIn(mode)) yield ['trainer.trainer_type', trainer.trainer_type]
  if (mode === 'train') return
  yield ['explorer.rollout_model.engine_type', explorer.rollout_model.engine_type]
  for (const [i, one] of explorer.auxiliary_models.entries())
    yield [`explorer.auxiliary_models[${i}].engine_type`, one.engine_type]
}

/** Engines that are not part of this version and that no other can replace. */
export function missingEngines(config: Config): Refusal[] {
  const found = [...enginesOf(config)].flatMap(([key, name]) => refusalOf([key], () => engineNamed(name)))
  return found.slice(0, 1)
}

/** Engines whose needs this machine does not meet. */
export function unableEngines(config: Config, facts: Facts): Refusal[] {
  const seen = new Set<string>()
  return [...enginesOf(config)].flatMap(([key, name]) => {
    const engine = seen.has(name) ? undefined : engines.find(name)
    seen.add(name)
    if (!engine?.canRun || engine.canRun(facts, config)) return []
    const error = new TrinityError('engine/unable', `the ${engine.name} engine cannot run on this machine`, {
      path: key,
      hint: 'trinity doctor says what is missing; auto takes an engine that can run',
    })
    return [{ keys: [key], error }]
  })
}
