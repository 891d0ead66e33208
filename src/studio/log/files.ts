import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import type { LogInfo } from '../api.js'
import type { FoundRun } from '../run/find.js'
import { inside } from '../run/inside.js'

/** A log, or one that was moved aside when it had become large. */
const LOG = /\.log(\.\d+)?$/

/** The logs of a run, in order of name. Those that lead out of the folders are left out. */
export async function logFiles({ path, root }: FoundRun): Promise<(LogInfo & { readonly path: string })[]> {
  const dir = join(path, 'log')
  const names = await readdir(dir, { recursive: true }).catch(() => [])
  const found = await Promise.all(
    names
      .filter((name) => LOG.test(name))
      .map(async (name) => {
        const real = await inside(root, join(dir, name)).catch(() => undefined)
        const info = real === undefined ? undefined : await stat(real).catch(() => undefined)
        if (real === undefined || !info?.isFile()) return []
        return [{ file: name.replace(/\.log$/, ''), bytes: info.size, changed: info.mtimeMs / 1000, path: real }]
      }),
  )
  return found.flat().sort((a, b) => (a.file < b.file ? -1 : 1))
}

/** Only what the list has is ever opened. */
export async function logFile(run: FoundRun, file: string): Promise<string> {
  const all = await logFiles(run)
  const found = all.find((one) => one.file === file)
  if (found) return found.path
  throw new TrinityError('studio/no-log', `the run has no log '${file}'`, {
    path: file,
    hint: `it has ${all.map((one) => one.file).join(', ') || 'none'}`,
  })
}
