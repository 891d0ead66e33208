import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { BENCH, MARKS } from '../../checkpoint/layout.js'
import type { FoundRun } from './find.js'
import { inside } from './inside.js'

/** What is read of a run without looking where it lies: its own small files, and the folders that they are in. */
const isRead = (name: string) => name === MARKS || name === BENCH || name.endsWith('.json') || name.startsWith('.lock-')

/** Why nothing of a run is shown: one of these is a link that leads out of the folder that Studio was given. */
export async function outsiderOf({ root, path }: FoundRun): Promise<TrinityError | undefined> {
  for (const folder of ['', MARKS, BENCH]) {
    const entries = await readdir(join(path, folder), { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      if (!entry.isSymbolicLink() || !isRead(entry.name)) continue
      const error: unknown = await inside(root, join(path, folder, entry.name)).then(
        () => undefined,
        (cause) => cause,
      )
      if (error instanceof TrinityError && error.code === 'studio/outside') return error
    }
  }
  return undefined
}
