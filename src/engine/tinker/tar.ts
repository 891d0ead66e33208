import { badAnswer } from './failure.js'

const BLOCK = 512

/** The plain files of a tar archive, by their names without folders. */
export function tarFiles(archive: Uint8Array): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  let longName: string | undefined
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const head = archive.subarray(at, at + BLOCK)
    if (head.every((byte) => byte === 0)) break
    const size = Number.parseInt(text(head, 124, 12), 8)
    const from = at + BLOCK
    if (!(size >= 0) || from + size > archive.length) throw badAnswer('the archive of the weights is damaged')
    const data = archive.subarray(from, from + size)
    const kind = text(head, 156, 1)
    // names of more than 100 characters stand in a block of their own, in one of two ways
    if (kind === 'L') longName = text(data, 0, data.length)
    else if (kind === 'x') longName = /\d+ path=([^\n]*)\n/.exec(Buffer.from(data).toString())?.[1] ?? longName
    else {
      const name = (longName ?? text(head, 0, 100)).split('/').at(-1) ?? ''
      if ((kind === '0' || kind === '') && name !== '') files.set(name, data)
      longName = undefined
    }
    at = from + Math.ceil(size / BLOCK) * BLOCK
  }
  return files
}

function text(bytes: Uint8Array, from: number, length: number): string {
  const part = Buffer.from(bytes.subarray(from, from + length)).toString()
  const end = part.indexOf('\0')
  return (end < 0 ? part : part.slice(0, end)).trim()
}
