import type { SelectorConfig } from './selector/index.js'
import type { FormatConfig, RolloutArgs } from './task.js'

/** A task set, under its names in the YAML. */
export interface TasksetConfig {
  name?: string
  /** `file`, `sql`, or the name of a storage that a plugin added. */
  storage_type?: string
  path?: string | null
  subset_name?: string | null
  split?: string
  default_workflow_type?: string | null
  default_reward_fn_type?: string | null
  rollout_args?: RolloutArgs
  workflow_args?: Record<string, unknown>
  reward_fn_args?: Record<string, unknown>
  data_selector?: SelectorConfig
  /** The old name of `data_selector`. */
  task_selector?: SelectorConfig | null
  format?: FormatConfig
  repeat_times?: number
  is_eval?: boolean
  /** Share of this task set in a mixture, relative to the others; absent everywhere: as many as it has rows. */
  ratio?: number | null
}
