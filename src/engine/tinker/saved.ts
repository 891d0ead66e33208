import { join } from 'node:path'
import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { writeJsonFile } from '../../base/file/atomic-file.js'
import { readJsonObject } from '../../base/file/json-file.js'
import { makeFolder } from '../../base/file/make-folder.js'

/** In a checkpoint: where the service keeps weights and optimizer. */
const STATE = 'tinker_state.json'
/** In a folder of weights: where the service keeps them to sample from. */
const WEIGHTS = 'tinker_weights.json'

const address = z.string().startsWith('tinker://')
const state = z.object({
  version: z.literal(1),
  service: z.string(),
  path: address,
  base_model: z.string(),
  rank: z.number(),
})
const weights = z.object({ version: z.literal(1), service: z.string(), path: address })

export type SavedState = z.infer<typeof state>
export type SavedWeights = z.infer<typeof weights>

export async function writeState(dir: string, given: Omit<SavedState, 'version'>): Promise<void> {
  await makeFolder(dir)
  await writeJsonFile(join(dir, STATE), { version: 1, ...given })
}

export async function writeWeights(dir: string, given: Omit<SavedWeights, 'version'>): Promise<void> {
  await makeFolder(dir)
  await writeJsonFile(join(dir, WEIGHTS), { version: 1, ...given })
}

/** What a checkpoint of this engine says; a checkpoint of another model is refused. */
export async function readState(dir: string, own: { base_model: string; rank: number }): Promise<SavedState> {
  const file = join(dir, STATE)
  const found = state.safeParse(await readJsonObject(file))
  if (!found.success) {
    throw new TrinityError('engine/bad-checkpoint', `${dir} holds no state of a Tinker service`, {
      path: file,
      hint: 'was it saved by another engine? start over with --fresh, or name that engine',
    })
  }
  const { base_model, rank } = found.data
  if (base_model === own.base_model && rank === own.rank) return found.data
  throw new TrinityError(
    'engine/bad-checkpoint',
    `the checkpoint is of ${base_model} with rank ${rank}, this run trains ${own.base_model} with rank ${own.rank}`,
    { path: file, hint: 'set model.tinker.base_model and model.tinker.rank as they were' },
  )
}

/** Undefined: there are no weights of a service in the folder. */
export async function readWeights(dir: string): Promise<SavedWeights | undefined> {
  return weights.safeParse(await readJsonObject(join(dir, WEIGHTS))).data
}
