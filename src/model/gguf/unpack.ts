import { createHash, randomBytes } from 'node:crypto'
import { rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { writeJsonFile } from '../../base/file/atomic-file.js'
import { makeFolder } from '../../base/file/make-folder.js'
import { inWords } from '../../base/file/system-error.js'
import { unlessInterrupted } from '../../base/file/unfinished.js'
import { type ModelDir, openModelDir } from '../dir.js'
import { saveModel } from '../save.js'
import { GgufFile } from './file.js'
import { ggufTokenizer } from './tokenizer.js'

/**
 * Writes the model of a GGUF file as a Hugging Face directory: what was quantized is decoded to f32, f16 and bf16 stay. The
 * directory appears when it is whole.
 */
export async function unpackGguf(path: string, out: string): Promise<void> {
  const beside = `${out}.${randomBytes(4).toString('hex')}.tmp`
  const dir = await openModelDir(path)
  try {
    await inWords(makeFolder(beside))
    await unlessInterrupted(beside, () => writeDirectory(dir, path, beside))
    await rename(beside, out)
  } catch (error) {
    await rm(beside, { recursive: true, force: true })
    throw error
  } finally {
    await dir.close()
  }
}

async function writeDirectory(dir: ModelDir, path: string, out: string): Promise<void> {
  await writeTokenizer(path, out)
  await writeJsonFile(join(out, 'generation_config.json'), { eos_token_id: [...dir.eosTokenIds] })
  const tensors = dir.tensorNames().map((name) => {
    const { dtype, shape } = dir.tensorInfo(name)
    return { name, dtype, shape, data: async () => (await dir.readRaw(name)).data }
  })
  await saveModel(out, { configJson: dir.configJson, tensors })
}

async function writeTokenizer(path: string, dir: string): Promise<void> {
  const file = await GgufFile.open(path)
  try {
    for (const [name, json] of Object.entries(ggufTokenizer(file))) await writeJsonFile(join(dir, name), json)
  } finally {
    await file.close()
  }
}

/** The directory into which a GGUF file is unpacked once, so that every engine reads it: below ~/.trinity/gguf. */
export async function unpackedGguf(path: string, note: (text: string) => void, home = homedir()): Promise<string> {
  const { size, mtimeMs } = await inWords(stat(path))
  const mark = createHash('sha256')
    .update(`${resolve(path)}\n${size}\n${mtimeMs}`)
    .digest('hex')
    .slice(0, 12)
  const out = join(home, '.trinity', 'gguf', `${basename(path).replace(/\.gguf$/i, '')}-${mark}`)
  if (await stat(join(out, 'config.json')).catch(() => undefined)) return out
  note(`unpacking ${path} to ${out}`)
  await unpackGguf(path, out).catch(async (error: NodeJS.ErrnoException) => {
    // Somebody else was faster.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
  return out
}
