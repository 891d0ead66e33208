import { algorithms } from '../../algorithm/index.js'
import { TrinityError } from '../../base/error.js'
import { type ResolvedStage, trainsIn } from '../../config/index.js'
import { engineLookup } from '../../engine/registry.js'
import { resolveRepo } from '../../hub/index.js'
import { readModelConfig } from '../../model/index.js'
import { isHostedModel } from '../hosted.js'
import { asRefusal, type Refusal } from './refusal.js'

/** Models that are not on this machine although nothing could bring them, or that are no models. */
export async function missingModels(stage: ResolvedStage): Promise<Refusal[]> {
  const found: Refusal[] = []
  const seen = new Set<string>()
  for (const [key, path] of modelsOf(stage)) {
    if (seen.has(path)) continue
    seen.add(path)
    const error = await faultOf(path)
    if (error) found.push(asRefusal([key], error))
  }
  return found
}

/** Keys and paths of the models that a run opens. */
function* modelsOf({ config, startsFrom }: ResolvedStage): Generator<[key: string, path: string]> {
  const { model, mode, explorer, algorithm, trainer } = config
  const engine = mode === 'train' ? trainer.trainer_type : explorer.rollout_model.engine_type
  if (startsFrom === null && engineLookup.find(engine)?.needsModel !== false)
    yield ['model.model_path', model.model_path]
  if (trainsIn(mode) && algorithms.find(algorithm.algorithm_type)?.use_critic)
    yield ['model.critic_model_path', model.critic_model_path]
  if (mode === 'train') return
  for (const [i, one] of explorer.auxiliary_models.entries())
    if (!isHostedModel(one)) yield [`explorer.auxiliary_models[${i}].model_path`, one.model_path ?? '']
}

/** Looks at the disk and the cache alone. Whatever a hub would have to be asked for is not known to be wrong. */
async function faultOf(path: string): Promise<unknown> {
  const env = { ...process.env, HF_HUB_OFFLINE: '1' }
  try {
    await readModelConfig(await resolveRepo('model', path, { env }))
    return undefined
  } catch (error) {
    const mayCome = error instanceof TrinityError && error.code === 'hub/offline' && !process.env.HF_HUB_OFFLINE
    return mayCome ? undefined : error
  }
}
