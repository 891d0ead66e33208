import { createHash, randomBytes } from 'node:crypto'
import { rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { writeJsonFile } from '../../base/file/atomic-file.js'
import { makeFolder } from '../../base/file/make-folder.js'
import { inWords } from '../../base/file/system-error.js'
import { unlessInterrupted } from '../../base/file/unfinished.js'
import { type ModelDir, openModelDir } from '../dir.js'
import { converted, type Dtype, dtypeName, type FloatDtype } from '../dtype.js'
import { saveModel } from '../save.js'
import type { StoredTensor } from '../tensor-source.js'
import { GgufFile } from './file.js'
import { tiedHead, tiedNote } from './tied-head.js'
import { ggufTokenizer } from './tokenizer.js'

export interface UnpackOptions {
  /** Type of the written tensors. Default `keep`: F16 and BF16 stay, everything else is decoded to F32. */
  readonly dtype?: FloatDtype | 'keep'
  /** Called with what the directory has that the file has not: a matrix that was stored twice is one. */
  readonly note?: (text: string) => void
}

/** Writes the model of a GGUF file as a Hugging Face directory, which appears when it is complete. */
export async function unpackGguf(path: string, out: string, options: UnpackOptions = {}): Promise<void> {
  const beside = `${out}.${randomBytes(4).toString('hex')}.tmp`
  const dir = await openModelDir(path)
  try {
    await inWords(makeFolder(beside))
    await unlessInterrupted(beside, () => writeDirectory(dir, path, beside, options))
    await rename(beside, out)
  } catch (error) {
    await rm(beside, { recursive: true, force: true })
    throw error
  } finally {
    await dir.close()
  }
}

async function writeDirectory(
  dir: ModelDir,
  path: string,
  out: string,
  { dtype = 'keep', note = () => {} }: UnpackOptions,
): Promise<void> {
  await writeTokenizer(path, out, note)
  await writeJsonFile(join(out, 'generation_config.json'), { eos_token_id: [...dir.eosTokenIds] })
  const tensors = dir.tensorNames().map((name) => {
    const info = dir.tensorInfo(name)
    const to = dtype === 'keep' ? info.dtype : dtype
    return { name, dtype: to, shape: info.shape, data: () => portions(dir, info, to) }
  })
  const configJson = dtype === 'keep' ? dir.configJson : { ...dir.configJson, torch_dtype: dtypeName[dtype] }
  await saveModel(out, { configJson, tensors })
}

/** Elements that are in memory at a time. */
const PORTION = 1 << 22

async function* portions(dir: ModelDir, { name, size, dtype }: StoredTensor, to: Dtype): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < size; from += PORTION) {
    const range = [from, Math.min(size, from + PORTION)] as const
    const { data } = await dir.readRaw(name, range)
    yield converted(data, dtype, to)
  }
}

async function writeTokenizer(path: string, dir: string, note: (text: string) => void): Promise<void> {
  const file = await GgufFile.open(path)
  try {
    const tied = await tiedHead(file)
    if (tied) note(tiedNote(tied))
    for (const [name, json] of Object.entries(ggufTokenizer(file))) await writeJsonFile(join(dir, name), json)
  } finally {
    await file.close()
  }
}

/** Version of unpacked directories. Those of other versions are not used. */
const LAYOUT = 2

/** The directory into which a GGUF file is unpacked once, so that every engine reads it: below ~/.trinity/gguf. */
export async function unpackedGguf(path: string, note: (text: string) => void, home = homedir()): Promise<string> {
  const { size, mtimeMs } = await inWords(stat(path))
  const mark = createHash('sha256')
    .update(`${LAYOUT}\n${resolve(path)}\n${size}\n${mtimeMs}`)
    .digest('hex')
    .slice(0, 12)
  const out = join(home, '.trinity', 'gguf', `${basename(path).replace(/\.gguf$/i, '')}-${mark}`)
  if (await stat(join(out, 'config.json')).catch(() => undefined)) return out
  note(`unpacking ${path} to ${out}`)
  await unpackGguf(path, out, { note }).catch(async (error: NodeJS.ErrnoException) => {
    // Somebody else was faster.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
  return out
}
