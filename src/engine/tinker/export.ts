import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { copyTokenizer } from '../../model/tokenizer-save.js'
import { writeWeights } from './saved.js'
import type { TinkerPlace } from './score.js'

/** A folder for samplers of this engine, which names the weights at the service, with the files of the tokenizer. */
export async function exportWeights(
  dir: string,
  path: string,
  place: TinkerPlace,
  _signal: AbortSignal,
): Promise<void> {
  await mkdir(dir, { recursive: true })
  const { spec, session } = place
  await copyTokenizer(spec.path, dir, spec.chatTemplate)
  for (const name of ['config.json', 'generation_config.json'])
    await copyFile(join(spec.path, name), join(dir, name)).catch(ignoreMissing)
  await writeWeights(dir, { service: session.url, path })
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
