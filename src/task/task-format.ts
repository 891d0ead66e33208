import { TrinityError } from '../base/error.js'
import type { Given, TasksetConfig } from '../config/index.js'
import { columnOf } from './column.js'
import type { DataRow } from './source/row-source.js'
import type { Task, TaskIndex } from './task.js'

const NO_ARGS = {}

/** Makes a task of a record: the record may name its own workflow and reward function. */
export function formatTask(raw: DataRow, config: Given<TasksetConfig>, index: TaskIndex): Task {
  const format = config.format ?? {}
  const workflow = named(raw, format.workflow_key) ?? config.default_workflow_type
  if (!workflow) {
    throw new TrinityError('task/no-workflow', 'no workflow is named for the task', {
      path: 'default_workflow_type',
      hint: 'set default_workflow_type of the task set, or format.workflow_key to the column that names one',
    })
  }
  const rewardFn = named(raw, format.reward_fn_key) ?? config.default_reward_fn_type ?? undefined
  return {
    raw,
    workflow,
    rewardFn,
    taskDesc: columnOf(raw, format.prompt_key ?? 'prompt'),
    truth: columnOf(raw, format.response_key ?? 'response'),
    repeatTimes: config.repeat_times ?? 1,
    format,
    rolloutArgs: { ...config.rollout_args },
    workflowArgs: { ...config.workflow_args },
    // One object for all tasks of the set: whoever prepares them does it once.
    rewardFnArgs: config.reward_fn_args ?? NO_ARGS,
    isEval: config.is_eval ?? false,
    index,
  }
}

function named(raw: DataRow, key: string | undefined): string | undefined {
  const value = key ? columnOf(raw, key) : undefined
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string') return value
  throw new TrinityError('task/row', `the column '${key}' must hold a name, not ${JSON.stringify(value)}`)
}
