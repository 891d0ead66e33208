import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { atomicFile } from '../../base/file/atomic-file.js'
import type { SaveAnswer, SaveQuery } from '../api.js'
import { fileAt } from './place.js'

/** Writes a text below the folders. What says something else stays, unless the person is sure. */
export async function save(folders: readonly string[], { text, isSure, ...place }: SaveQuery): Promise<SaveAnswer> {
  const file = await fileAt(folders, place)
  const there = await readFile(file, 'utf8').catch(() => undefined)
  if (there === text) return { file }
  if (there !== undefined && isSure !== true) {
    throw new TrinityError('studio/exists', `${place.path} exists already, with another text`, {
      path: place.path,
      hint: 'replace it, or choose another name',
    })
  }
  await mkdir(dirname(file), { recursive: true })
  await atomicFile(file, (handle) => handle.writeFile(text))
  return { file }
}
