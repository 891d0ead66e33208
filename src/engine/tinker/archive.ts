import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { HttpError } from '../../base/http/error.js'
import { partsOf } from './saved-paths.js'
import type { TinkerSession } from './session.js'
import { tarFiles } from './tar.js'

const unzip = promisify(gunzip)

/** The files of an adapter as PEFT has them; undefined where the service does not give them away. */
export async function fetchAdapter(
  session: TinkerSession,
  path: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
  const { run, name } = partsOf(path)
  const route = `training_runs/${encodeURIComponent(run)}/checkpoints/${encodeURIComponent(name)}/archive`
  const archive = await session.download(route, signal).catch((error) => {
    if (error instanceof HttpError && (error.status === 404 || error.status === 403 || error.status === 405))
      return undefined
    throw error
  })
  if (!archive) return undefined
  const isZipped = archive[0] === 0x1f && archive[1] === 0x8b
  return tarFiles(isZipped ? await unzip(archive) : archive)
}
