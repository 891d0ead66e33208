import { stat } from 'node:fs/promises'
import { TrinityError } from '../../base/error.js'
import { type Config, type ExperienceBufferConfig, trainsIn } from '../../config/index.js'
import { openDataset } from '../../task/index.js'
import { isAtHand } from './at-hand.js'
import { asRefusal, type Refusal } from './refusal.js'

/** Files of the trainer that are not on this machine or cannot be opened. */
export async function missingTrainingData({ mode, buffer, data_processor }: Config): Promise<Refusal[]> {
  if (!trainsIn(mode)) return []
  const { experience_buffer: main, auxiliary_buffers: more } = buffer.trainer_input
  const all = Object.entries(more).map(([name, one]) => [`auxiliary_buffers.${name}`, one] as const)
  const found: Refusal[] = []
  for (const [key, one] of [...(main ? [['experience_buffer', main] as const] : []), ...all]) {
    const made = data_processor.task_pipeline?.output?.path
    const error = one.path === made ? undefined : await faultOf(one)
    if (error) found.push(asRefusal([`buffer.trainer_input.${key}.path`, `buffer.trainer_input.${key}`], error))
  }
  return found
}

async function faultOf({ storage_type, schema_type, path, subset_name, split }: ExperienceBufferConfig) {
  if (storage_type !== 'file' || !path || !(await isAtHand(path))) return undefined
  if (schema_type === 'experience') return (await stat(path).catch(() => undefined)) ? undefined : notThere(path)
  try {
    await (await openDataset({ path, subset_name, split })).close()
    return undefined
  } catch (error) {
    return error
  }
}

function notThere(path: string): TrinityError {
  return new TrinityError('data/not-found', `there is no file of experiences at '${path}'`, { path })
}
