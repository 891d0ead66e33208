import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { looksLikeRepoId } from '../../hub/index.js'
import { dataFileKind } from '../../task/source/open-file.js'

/** Larger data are not opened to check a configuration: a real run says the same. */
const LARGEST = 256 << 20

/** Whether opening data of this path looks at this machine alone and takes no time. A path where nothing is does. */
export async function isAtHand(path: string): Promise<boolean> {
  const size = await sizeOf(path)
  return size === undefined ? !looksLikeRepoId(path) || dataFileKind(path) !== undefined : size <= LARGEST
}

/** Bytes of a file or of all files in a folder; undefined where there is nothing. */
async function sizeOf(path: string): Promise<number | undefined> {
  const info = await stat(path).catch(() => undefined)
  if (!info?.isDirectory()) return info?.size
  const names = await readdir(path, { recursive: true })
  const infos = await Promise.all(names.map((name) => stat(join(path, name)).catch(() => undefined)))
  return infos.reduce((sum, one) => sum + (one?.isFile() ? one.size : 0), 0)
}
