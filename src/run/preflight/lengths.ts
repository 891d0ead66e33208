import type { ResolvedStage } from '../../config/index.js'
import { localModel } from '../local-model.js'
import { opened, overlong } from '../longest.js'
import type { Refusal } from './refusal.js'

/** Sequences that are longer than a model takes, as far as its config.json is on this machine. */
export async function tooLongSequences({ config, startsFrom }: ResolvedStage): Promise<Refusal[]> {
  const found: Refusal[] = []
  for (const one of opened(config)) {
    const isPolicy = one.path === config.model.model_path
    // an earlier stage makes the model that this one opens
    if (isPolicy && startsFrom !== null) continue
    // what cannot be read is told of the model
    const model = await localModel(one.path, isPolicy ? config.model : undefined).catch(() => undefined)
    const error = model && overlong(one, model)
    if (error) found.push({ keys: one.keys, error })
  }
  return found
}
