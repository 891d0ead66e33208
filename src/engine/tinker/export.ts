import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeFolder } from '../../base/file/make-folder.js'
import { HttpError } from '../../base/http/error.js'
import { copyTokenizer } from '../../model/tokenizer-save.js'
import { fetchAdapter } from './archive.js'
import { mergeAdapter } from './merge.js'
import { writeWeights } from './saved.js'
import type { TinkerPlace } from './score.js'

const ADAPTER = ['adapter_config.json', 'adapter_model.safetensors']

/**
 * Writes weights of the service as a folder. It always names them for samplers of this engine; where the service gives
 * the adapter away and the weights of the base model are here, it is a model directory for any loader as well.
 */
export async function exportWeights(dir: string, path: string, place: TinkerPlace, signal: AbortSignal): Promise<void> {
  const { spec, session } = place
  await makeFolder(dir)
  await copyTokenizer(spec.path, dir, spec.chatTemplate)
  for (const name of ['config.json', 'generation_config.json'])
    await copyFile(join(spec.path, name), join(dir, name)).catch(ignoreMissing)
  await writeWeights(dir, { service: session.url, path })
  const adapter = await mkdtemp(join(tmpdir(), 'trinity-adapter-'))
  try {
    if (await exportAdapter(adapter, path, place, signal)) await mergeAdapter(spec.path, adapter, dir)
  } finally {
    await rm(adapter, { recursive: true, force: true })
  }
}

/** The adapter alone, as PEFT has it; false where the service does not give it. A checkpoint does without. */
export async function exportAdapter(
  dir: string,
  path: string,
  { session }: TinkerPlace,
  signal: AbortSignal,
): Promise<boolean> {
  const files = await fetchAdapter(session, path, signal).catch((error) => {
    if (error instanceof HttpError) return undefined
    throw error
  })
  if (!files || !ADAPTER.every((name) => files.has(name))) return false
  await makeFolder(dir)
  for (const name of ADAPTER) await writeFile(join(dir, name), files.get(name)!)
  return true
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
