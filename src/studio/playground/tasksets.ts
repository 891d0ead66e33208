import { TrinityError } from '../../base/error.js'
import type { Config } from '../../config/index.js'
import type { TasksetChoice } from '../api.js'

const LISTS = ['tasksets', 'eval_tasksets'] as const
type TasksetConfig = Config['buffer']['explorer_input']['tasksets'][number]

/** What a task of a run can be taken from. */
export function tasksetsOf({ buffer }: Config): TasksetChoice[] {
  return LISTS.flatMap((list) =>
    (buffer?.explorer_input?.[list] ?? []).map((one, i) => ({
      id: `${list}.${i}`,
      name: one.name || `${list} ${i}`,
      isEvaluation: list === 'eval_tasksets',
      doc: [one.path, one.split, one.default_workflow_type].filter(Boolean).join(' · '),
    })),
  )
}

export function tasksetOf(config: Config, id: string): TasksetConfig {
  const [list, i] = id.split('.')
  const found = LISTS.some((one) => one === list)
    ? config.buffer.explorer_input[list as 'tasksets'][Number(i)]
    : undefined
  if (found) return found
  const known = tasksetsOf(config).map((one) => one.id)
  throw new TrinityError('studio/no-taskset', `the run has no task set ${id}`, {
    path: 'buffer.explorer_input',
    hint: `it has ${known.join(', ') || 'none'}`,
  })
}
