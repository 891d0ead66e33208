import { type FileHandle, open } from 'node:fs/promises'
import { READ_NOW } from '../../base/file/read-now.js'

const CHUNK = 1 << 16
const NEWLINE = 10
/** A line that is longer counts as several: no file makes us read more than this at a time. */
const LONGEST = 1 << 22
/** Of lines that are read whole, one by one. */
const LONGEST_WHOLE = 1 << 28

/** A line and the byte at which it begins. */
export interface PlacedLine {
  readonly at: number
  readonly text: string
}

/** Does something with a file that may not be there, or be something else, such as a pipe or a folder. */
export async function withFile<T>(
  path: string,
  work: (file: FileHandle, size: number) => Promise<T>,
): Promise<T | undefined> {
  let file: FileHandle
  try {
    file = await open(path, READ_NOW)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const info = await file.stat()
    return info.isFile() ? await work(file, info.size) : undefined
  } finally {
    await file.close()
  }
}

/** All of a file; undefined where it is none, or cannot be read. */
export const wholeText = (path: string): Promise<string | undefined> =>
  withFile(path, (file) => file.readFile('utf8')).catch(() => undefined)

/** The bytes of a part of a file; fewer where it ends earlier. */
export async function readPart(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(Math.max(0, to - from))
  let done = 0
  while (done < bytes.length) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, from + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return bytes.subarray(0, done)
}

/** The whole lines in a part of a file that begins at the beginning of a line. */
export function linesIn(bytes: Buffer, at: number): PlacedLine[] {
  const lines: PlacedLine[] = []
  let begin = 0
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, begin)) {
    const last = end > begin && bytes[end - 1] === 13 ? end - 1 : end
    lines.push({ at: at + begin, text: bytes.toString('utf8', begin, last) })
    begin = end + 1
  }
  return lines
}

/** Where the line begins that the byte before `end` belongs to. */
export async function lineBegin(file: FileHandle, end: number): Promise<number> {
  const least = Math.max(0, end - LONGEST)
  for (let to = end; to > least; ) {
    const from = Math.max(least, to - CHUNK)
    const part = await readPart(file, from, to)
    const newline = part.lastIndexOf(NEWLINE)
    if (newline >= 0) return from + newline + 1
    to = from
  }
  return least
}

/** The last whole lines, at most `count` of them. */
export async function lastLines(file: FileHandle, size: number, count: number): Promise<PlacedLine[]> {
  const end = await lineBegin(file, size)
  for (let bytes = CHUNK; ; bytes *= 4) {
    const from = end <= bytes ? 0 : await lineBegin(file, end - bytes)
    const lines = linesIn(await readPart(file, from, end), from)
    if (lines.length >= count || from === 0 || bytes > 8 * LONGEST) return lines.slice(-count)
  }
}

/** About `count` lines spread evenly over a file, the first and the last among them; a small file is read whole. */
export async function sampledLines(file: FileHandle, size: number, count: number): Promise<PlacedLine[]> {
  const last = await lastLines(file, size, 1)
  if (last.length === 0) return []
  const end = last[0].at
  if (end <= CHUNK * 16) return [...linesIn(await readPart(file, 0, end), 0), ...last]
  const found = new Map<number, PlacedLine>()
  for (let i = 0; i < count - 1; i++) {
    const near = Math.floor((i * end) / (count - 1))
    const begin = await lineBegin(file, near)
    if (!found.has(begin)) found.set(begin, { at: begin, text: await lineAt(file, begin) })
  }
  return [...found.values(), ...last]
}

/** The line that begins here. */
export async function lineAt(file: FileHandle, at: number): Promise<string> {
  const parts: Buffer[] = []
  for (let from = at; from - at < LONGEST; from += CHUNK) {
    const part = await readPart(file, from, from + CHUNK)
    const newline = part.indexOf(NEWLINE)
    parts.push(newline >= 0 ? part.subarray(0, newline) : part)
    if (newline >= 0 || part.length < CHUNK) break
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Gives whole lines in order, from the beginning of one on; others get their turn in between. Returns where it ended. */
export async function eachLine(
  file: FileHandle,
  from: number,
  size: number,
  take: (line: PlacedLine) => void,
): Promise<number> {
  let at = from
  for (let bytes = 1 << 20; at < size; ) {
    const part = await readPart(file, at, Math.min(size, at + bytes))
    const lines = linesIn(part, at)
    for (const line of lines) take(line)
    if (lines.length === 0) {
      if (at + part.length >= size || part.length < bytes) break
      if (bytes >= LONGEST_WHOLE) at += part.length
      else bytes *= 2
      continue
    }
    at += part.lastIndexOf(NEWLINE) + 1
    await new Promise((resolve) => setImmediate(resolve))
  }
  return at
}
