import { shortPath } from '../base/file/short-path.js'
import { openModelDir } from '../model/dir.js'

/** What a person can do with the folder of weights that a run leaves. Those of a service may have stayed there. */
export async function useWeights(folder: string, engine: string): Promise<string[]> {
  const path = shortPath(folder)
  const dir = await openModelDir(folder, { unchecked: true }).catch(() => undefined)
  if (!dir) return [`${path}   is what the ${engine} engine goes on from; it holds no weights for other loaders`]
  await dir.close()
  return [
    `trinity chat ${path}   talks to the trained model`,
    `trinity model info ${path}   describes it; any loader reads it`,
  ]
}
