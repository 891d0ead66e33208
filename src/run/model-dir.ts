import { existsSync } from 'node:fs'
import { bytes } from '../base/bytes.js'
import { TrinityError } from '../base/error.js'
import { resolveRepo } from '../hub/index.js'
import { isGguf } from '../model/gguf/file.js'
import { unpackedGguf } from '../model/gguf/unpack.js'
import type { RunView } from '../monitor/view.js'

const EVERY_MS = 1000

/** A local directory for a path, a GGUF file or a hub id; a download says how far it is. */
export async function modelDir(path: string, view: RunView, signal: AbortSignal): Promise<string> {
  if (isGguf(path) && !existsSync(path)) {
    throw new TrinityError('model/missing', `there is no file ${path}`, { path, hint: 'give the path of a GGUF file' })
  }
  let last = Number.NEGATIVE_INFINITY
  const found = await resolveRepo('model', path, {
    signal,
    onProgress: ({ file, done, total }) => {
      if (performance.now() - last < EVERY_MS) return
      last = performance.now()
      view.phase('model', `downloading ${path}: ${file}, ${bytes(done)} of ${bytes(total)}`)
    },
  })
  return isGguf(found) ? unpackedGguf(found, (text) => view.phase('model', text)) : found
}
