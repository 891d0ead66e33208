import { TrinityError } from '../base/error.js'
import type { Config } from '../config/index.js'
import type { Card, MemoryWords } from '../engine/description.js'
import { engines } from '../engine/registry.js'
import { smallestCard } from '../machine/doctor/cards.js'
import type { ModelConfig } from '../model/config.js'
import { trainerNeeds } from '../trainer/index.js'
import { localModel } from './local-model.js'

/** The device memory of a stage, as its engines plan it, compared with a GPU where one is known. */
export async function memoryOf(config: Config, card: Card | undefined): Promise<MemoryWords> {
  const names = new Set([config.trainer.trainer_type, config.explorer.rollout_model.engine_type])
  const planned = [...names].map((name) => engines.find(name)).find((engine) => engine?.memory)
  try {
    return (await planned?.memory?.(config, trainerNeeds(config), readLocal, card)) ?? { lines: [], warnings: [] }
  } catch (error) {
    // what is wrong with the configuration stops a run as well
    if (!(error instanceof TrinityError) || error.code.startsWith('args/')) throw error
    return { lines: [['memory', `not planned: ${error.message}`]], warnings: [] }
  }
}

/** The smallest of the GPUs that may be used, or the one that a person describes: 80GB, 40 GiB, 24. */
export async function cardOf(given: string | undefined): Promise<Card | undefined> {
  if (given === undefined) return smallestCard()
  const found = /^\s*(\d+(?:\.\d+)?)\s*(G|GB|GiB|)\s*$/i.exec(given)
  const size = Number(found?.[1])
  if (size > 0) return { name: 'as given', bytes: size * (/^gib$/i.test(found?.[2] ?? '') ? 2 ** 30 : 1e9) }
  throw new TrinityError('cli/gpu-memory', `'${given}' is not a memory size`, {
    hint: 'such as --gpu-memory 80GB',
  })
}

/** Of a model that is on this machine: a dry run downloads nothing. */
async function readLocal(path: string): Promise<ModelConfig> {
  const found = await localModel(path)
  if (found) return found
  throw new TrinityError('model/missing', `the model ${path} is not on this machine`)
}
