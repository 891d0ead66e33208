/** What a run would stop at, as far as it can be known before anything is opened. */

import { TrinityError } from '../../base/error.js'
import { type Config, type Facts, type ResolvedStage, tooFewTasks } from '../../config/index.js'
import { missingEngines, unableEngines } from './engines.js'
import { unsetVariables } from './hosted.js'
import { tooLongSequences } from './lengths.js'
import { missingModels } from './models.js'
import { unknownNames } from './names.js'
import type { Refusal } from './refusal.js'
import { unservable } from './serve.js'
import { faultyTasks } from './task-data.js'
import { untrainable } from './training.js'
import { missingTrainingData } from './training-data.js'

export { isColumn } from './task-data.js'
export type { Refusal }

/** What is wrong whatever the machine: a run refuses it before it does anything. */
export async function refusals(stage: ResolvedStage): Promise<Refusal[]> {
  const { config } = stage
  return [
    ...missingEngines(config),
    ...unknownNames(config),
    ...untrainable(config),
    ...unservable(config),
    ...(await tooLongSequences(stage)),
  ]
}

/** What is not on this machine, or not as the file says. Nothing is downloaded for it. */
export async function localRefusals(stage: ResolvedStage, facts: Facts): Promise<Refusal[]> {
  const { config } = stage
  return [
    ...unableEngines(config, facts),
    ...(await missingModels(stage)),
    ...unsetVariables(config),
    ...(await faultyTasks(config)),
    ...(await missingTrainingData(config)),
    ...nothingToDo(config, facts),
  ]
}

function nothingToDo(config: Config, facts: Facts): Refusal[] {
  const few = tooFewTasks(config, facts)
  const key = 'buffer.batch_size'
  if (!few) return []
  return [{ keys: [key], error: new TrinityError('config/nothing-to-do', few.message, { path: key, hint: few.hint }) }]
}
