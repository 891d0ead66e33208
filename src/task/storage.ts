import { TrinityError } from '../error.js'
import { Registry } from '../registry.js'
import type { TasksetConfig } from './config.js'
import { openDataset } from './source/dataset.js'
import type { RowSource } from './source/row-source.js'

/** Where tasks come from. A plugin adds a kind of its own under the name a YAML gives as `storage_type`. */
export interface TaskStorage {
  readonly doc: string
  open(config: TasksetConfig): Promise<RowSource>
}

export const taskStorages = new Registry<TaskStorage>('task storage', {
  file: {
    doc: 'a file, a directory or the id of a data set on a hub',
    open(config) {
      if (config.path) return openDataset({ ...config, path: config.path })
      throw new TrinityError('task/no-path', `the task set '${config.name ?? ''}' has no path`, {
        path: 'path',
        hint: 'set `path` to a file, a directory or the id of a data set, for example openai/gsm8k',
      })
    },
  },
})
