import { readdir, realpath } from 'node:fs/promises'
import { dirname, relative, sep } from 'node:path'
import { messageOf, TrinityError } from '../../base/error.js'
import { atomicFile } from '../../base/file/atomic-file.js'
import { makeFolder } from '../../base/file/make-folder.js'
import type { Place, SaveAnswer, SaveQuery } from '../api.js'
import { isJob } from '../run/find.js'
import { wholeText } from '../run/lines.js'
import { fileAt } from './place.js'

/** Writes a text below the folders. What says something else stays, unless the person is sure. */
export async function save(folders: readonly string[], { text, isSure, ...place }: SaveQuery): Promise<SaveAnswer> {
  const file = await fileAt(folders, place)
  await mayWrite(file, place)
  const there = await wholeText(file)
  if (there === text) return { file }
  if (there !== undefined && isSure !== true) {
    throw new TrinityError('studio/exists', `${place.path} exists already, with another text`, {
      path: place.path,
      hint: 'replace it, or choose another name',
    })
  }
  await makeFolder(dirname(file)).catch((cause) => {
    throw new TrinityError('studio/query', `cannot make the folder ${dirname(place.path)}: ${messageOf(cause)}`, {
      path: place.path,
      hint: 'choose another place',
      cause,
    })
  })
  await atomicFile(file, (handle) => handle.writeFile(text))
  return { file }
}

/** Folders of runs and of other programs have their own writers. */
async function mayWrite(file: string, { folder, path }: Place): Promise<void> {
  const root = await realpath(folder)
  const parts = relative(root, file).split(sep)
  const other = parts.find((part) => part.startsWith('.') || part === 'node_modules')
  if (other !== undefined) throw taken(`${other} is not for configurations`, path)
  for (let dir = dirname(file); dir.length >= root.length; dir = dirname(dir)) {
    const entries = await readdir(dir, { withFileTypes: true }).catch(() => [])
    if (isJob(entries)) throw taken(`${dir} is the folder of a run, which keeps its own files there`, path)
    if (dir === root) break
  }
}

function taken(what: string, path: string): TrinityError {
  return new TrinityError('studio/taken', what, {
    path,
    hint: 'choose another place, for example a folder beside the runs',
  })
}
