import { realpath } from 'node:fs/promises'
import { sep } from 'node:path'
import { TrinityError } from '../../base/error.js'

/** The file without links, which must lie below the folder that Studio was given. */
export async function inside(root: string, path: string): Promise<string> {
  const real = await realpath(path).catch(() => {
    throw new TrinityError('studio/no-file', `there is no file ${path}`, { path })
  })
  if (real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)) return real
  throw new TrinityError('studio/outside', `${path} leads out of ${root}`, {
    path,
    hint: 'start Studio with the folder that it leads to',
  })
}
