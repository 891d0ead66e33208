import { OWN_COLUMNS } from '../../algorithm/rows.js'
import { TrinityError } from '../../base/error.js'
import { nearest } from '../../base/nearest.js'
import { bufferKinds } from '../../buffer/registry.js'
import { type Config, trainsIn } from '../../config/index.js'
import { TrainPlan } from '../../trainer/plan.js'
import { asRefusal, type Refusal, refusalOf } from './refusal.js'

const MAIN = 'buffer.trainer_input.experience_buffer'
const LOSS = 'algorithm.policy_loss_fn'

/** What cannot be trained with: a loss that cannot be written down, an optimizer or a buffer that is not here. */
export function untrainable(config: Config): Refusal[] {
  const { experience_buffer, auxiliary_buffers } = config.buffer.trainer_input
  const storages = [
    [MAIN, experience_buffer?.storage_type] as const,
    ...Object.entries(auxiliary_buffers).map(
      ([name, one]) => [`buffer.trainer_input.auxiliary_buffers.${name}`, one.storage_type] as const,
    ),
  ]
  const unknown = storages.flatMap(([key, type]) =>
    type ? refusalOf([`${key}.storage_type`, key], () => bufferKinds.get(type)) : [],
  )
  if (!trainsIn(config.mode)) return unknown
  try {
    return [...unknown, ...strangeColumns(new TrainPlan(config))]
  } catch (error) {
    return [...unknown, asRefusal([LOSS, 'algorithm.algorithm_type', 'algorithm'], error)]
  }
}

/** Columns that the loss reads and that only a workflow or an operator can have set. */
function strangeColumns({ loss }: TrainPlan): Refusal[] {
  return loss.columns
    .filter(({ name }) => !OWN_COLUMNS.includes(name))
    .map(({ name, place }) => {
      const near = nearest(name, OWN_COLUMNS)
      const error = new TrinityError(
        'algorithm/column',
        `the loss reads the column '${name}', which no run has by itself`,
        {
          path: place,
          hint: `${near ? `did you mean '${near}'? ` : ''}a workflow or an operator must set experience.columns.${name}`,
        },
      )
      return { keys: [LOSS, 'algorithm.algorithm_type', 'algorithm'], error, isDoubtful: true }
    })
}
