import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { Checkpoints } from '../checkpoint/index.js'
import { notModelFile } from '../model/dir.js'
import { isGguf } from '../model/gguf/file.js'

/**
 * The directory of weights behind what a user names: a model directory or a GGUF file as it is, the folder of a run as its newest
 * weights. Anything else is an id on a hub, or a path that whoever opens it will miss.
 */
export async function whichModel(path: string, warn: (text: string) => void): Promise<string> {
  if (!existsSync(path)) return path
  if (isGguf(path)) return path
  if (!statSync(path).isDirectory()) throw notModelFile(path)
  if (existsSync(join(path, 'config.json'))) return path
  const inside = [join(path, 'huggingface'), join(path, 'actor', 'huggingface')].find((dir) => existsSync(dir))
  if (inside) return inside
  const newest = await (await Checkpoints.open({ dir: path, warn })).latestWeights()
  if (newest) return newest.path
  throw new TrinityError('model/none', `there are no weights in ${path}`, { path, hint: others(path) })
}

function others(path: string): string {
  const runs = readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(path, entry.name, 'monitor')))
    .map(({ name }) => join(path, name))
  if (runs.length > 0) return `these are runs: ${runs.join(', ')}`
  return 'give a model directory (with config.json), or the folder of a run: <checkpoint_root_dir>/<project>/<name>'
}
