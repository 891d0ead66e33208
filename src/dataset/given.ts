import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { type DataRow, openDataset, type RowSource } from '../task/index.js'

/** Data that are taken over: a file or folder that the user has, or the id of a data set on a hub. */
export interface Given {
  readonly path: string
  /** Of the data set on the hub; a copy of it may have it as a folder. */
  readonly subset?: string
  /** The names that the split goes by; the first that is there is taken. */
  readonly splits: readonly string[]
}

/** Opens what is given. What cannot be downloaded here is an error that says how to get it; `data` is the name of ours. */
export async function openGiven(data: string, { path, subset, splits }: Given): Promise<RowSource> {
  const isLocal = existsSync(path)
  const subset_name = isLocal && !existsSync(join(path, subset ?? '')) ? undefined : subset
  let missing: unknown
  for (const split of splits) {
    try {
      return await openDataset({ path, subset_name, split })
    } catch (error) {
      if (!(error instanceof TrinityError)) throw error
      if (error.code.startsWith('hub/')) throw elsewhere(data, path, error)
      if (error.code !== 'data/split') throw error
      missing ??= error
    }
  }
  throw missing
}

/** The rows of what is given; opened when the first is asked for. */
export async function* rowsOf(data: string, given: Given): AsyncIterable<DataRow> {
  const source = await openGiven(data, given)
  try {
    yield* source.scan()
  } finally {
    await source.close()
  }
}

function elsewhere(data: string, path: string, error: TrinityError): TrinityError {
  const folder = basename(path)
  return new TrinityError(error.code, error.message, {
    path,
    hint: `where there is access: hf download ${path} --repo-type dataset --local-dir ${folder}; then here: trinity data ${data} --from ${folder}`,
    cause: error,
  })
}
