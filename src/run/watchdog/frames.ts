import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A call on the stack of the main thread. */
export interface Frame {
  readonly url: string
  readonly functionName: string
  /** From 0. */
  readonly line: number
  readonly column: number
}

/** Which files are whose. */
export interface Files {
  /** Folder of this program's own code. */
  readonly own: string
  /** Folders of plugins. */
  readonly plugins: readonly string[]
}

/** The index of the innermost call of a user's code; −1: there is none on the stack. */
export function userFrame(frames: readonly Frame[], files: Files): number {
  return frames.findIndex(({ url }) => isUsers(url, files))
}

function isUsers(url: string, { own, plugins }: Files): boolean {
  if (!url.startsWith('file:')) return false
  const path = fileURLToPath(url)
  if (plugins.some((folder) => path.startsWith(folder))) return true
  return !path.startsWith(own) && !path.includes(`${sep}node_modules${sep}`)
}

/** As editors and terminals jump to it. */
export function placeOfFrame({ url, line, column }: Frame): string {
  const path = url.startsWith('file:') ? fileURLToPath(url) : url
  return `${path}:${line + 1}:${column + 1}`
}
