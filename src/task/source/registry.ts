import { TrinityError } from '../../base/error.js'
import { Registry } from '../../base/registry.js'
import type { Given, TasksetConfig } from '../../config/index.js'
import { openDataset } from './dataset.js'
import type { TaskStorage } from './storage.js'

/** Where tasks come from, by `storage_type` of a task set. */
export const taskStorages = new Registry<TaskStorage>('task storage', {
  file: {
    doc: 'a file, a directory or the id of a data set on a hub',
    async open(config) {
      return openDataset({ ...config, path: pathOf(config) })
    },
  },
  sql: {
    doc: 'a database table with the name of the task set and the columns id and raw_task',
    async open(config) {
      const { SqlSource } = await import('./sql.js')
      return SqlSource.open(pathOf(config), config.name ?? 'task')
    },
  },
})

function pathOf(config: Given<TasksetConfig>): string {
  if (config.path) return config.path
  throw new TrinityError('task/no-path', `the task set '${config.name ?? ''}' has no path`, {
    path: 'path',
    hint: 'set `path` to a file, a directory or the id of a data set, for example openai/gsm8k',
  })
}
