import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import type { Config, TasksetConfig } from '../config/index.js'
import { formatTask, taskStorages } from '../task/index.js'
import { checkNeeds } from '../task/needs.js'
import { needsOf } from '../workflow/index.js'

/** Larger data are not opened to check a configuration: a real run says the same. */
const LARGEST = 256 << 20

/** A key of `format` that names no column, and where it stands. */
export interface ColumnProblem {
  key: string
  error: TrinityError
}

/** Task sets on this machine whose first row has no column for the prompt or the right answer, though both are needed. */
export async function missingColumns({ mode, buffer }: Config): Promise<ColumnProblem[]> {
  if (mode === 'train') return []
  const problems: ColumnProblem[] = []
  for (const list of ['tasksets', 'eval_tasksets'] as const) {
    for (const [i, taskset] of buffer.explorer_input[list].entries()) {
      const error = await missingColumn(taskset)
      if (error) problems.push({ key: `buffer.explorer_input.${list}[${i}].format`, error })
    }
  }
  return problems
}

async function missingColumn(config: TasksetConfig): Promise<TrinityError | undefined> {
  const { storage_type = 'file', path } = config
  if (storage_type !== 'file' || !path || !((await sizeOf(path)) <= LARGEST)) return undefined
  try {
    const source = await taskStorages.get(storage_type).open(config)
    try {
      checkNeeds(formatTask(await source.row(0), config, { taskset: 0, row: 0 }), needsOf)
    } finally {
      await source.close()
    }
  } catch (error) {
    // Whatever else is wrong with the data is for the run to say, which may find other data there.
    if (error instanceof TrinityError && error.code === 'task/column') return error
    if (!(error instanceof TrinityError)) throw error
  }
  return undefined
}

/** Bytes of a file or of all files in a folder; not a number where there is nothing. */
async function sizeOf(path: string): Promise<number> {
  const info = await stat(path).catch(() => undefined)
  if (!info?.isDirectory()) return info?.size ?? Number.NaN
  const names = await readdir(path, { recursive: true })
  const infos = await Promise.all(names.map((name) => stat(join(path, name)).catch(() => undefined)))
  return infos.reduce((sum, one) => sum + (one?.isFile() ? one.size : 0), 0)
}
