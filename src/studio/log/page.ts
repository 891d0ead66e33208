import type { FileHandle } from 'node:fs/promises'
import { LEVELS } from '../../base/log/log-dir.js'
import { levelOfLine } from '../../base/log/log-file.js'
import { redact } from '../../base/secret/index.js'
import type { LogLevel, LogLine, LogPage } from '../api.js'
import { lineBegin, linesIn, type PlacedLine, readPart, withFile } from '../run/lines.js'

export interface LineFilter {
  readonly level?: LogLevel
  readonly text?: string
}

export interface PageOptions extends LineFilter {
  readonly before?: number
  readonly after?: number
  readonly limit: number
  /** Bytes that one search looks at. */
  readonly most?: number
}

const CHUNK = 1 << 18
const MOST = 1 << 26
const LONGEST_LINE = 1 << 22
/** More of one line is of no use on a screen. */
const LONGEST = 20_000

/** Shows lines that pass a filter. A line without a level belongs to the one before it. */
export class Sieve {
  readonly #least: number
  readonly #text: string | undefined
  #level: LogLevel = 'INFO'

  constructor({ level = 'DEBUG', text }: LineFilter) {
    this.#least = LEVELS.indexOf(level)
    this.#text = text?.toLowerCase()
  }

  lines(lines: readonly PlacedLine[]): LogLine[] {
    return lines.flatMap(({ at, text }) => {
      this.#level = levelOfLine(text) ?? this.#level
      if (LEVELS.indexOf(this.#level) < this.#least) return []
      const shown = redact(text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text)
      // what a secret is must not be found by searching for it
      return this.#text && !shown.toLowerCase().includes(this.#text) ? [] : [{ at, level: this.#level, text: shown }]
    })
  }
}

const SEVERE = /^(?:WARN|ERROR|CRITICAL|FATAL)/m

/** Whether some line of a part can pass. Most parts of a large log need no look at their lines. */
function mayPass(part: Buffer, { level, text }: LineFilter): boolean {
  const whole = part.toString()
  if ((level === 'WARNING' || level === 'ERROR') && !SEVERE.test(whole)) return false
  // stars are not in the file: they stand where a secret is
  return text === undefined || text.includes('*') || whole.toLowerCase().includes(text.toLowerCase())
}

/** A piece of a log, however large the log is: backward from a byte or the end, or forward from a byte. */
export async function logPage(path: string, file: string, options: PageOptions): Promise<LogPage> {
  const page = await withFile(path, (handle, size) =>
    options.after === undefined ? backward(handle, size, options) : forward(handle, size, options),
  )
  return { file, ...(page ?? { ...NOTHING, bytes: 0 }) }
}

const NOTHING = { lines: [], from: 0, to: 0, atBegin: true, atEnd: true, isPartial: false }

type Found = Omit<LogPage, 'file'>

async function backward(handle: FileHandle, size: number, options: PageOptions): Promise<Found> {
  const { before = size, limit, most = MOST } = options
  const end = await lineBegin(handle, Math.min(before, size))
  const lines: LogLine[] = []
  let from = end
  while (from > 0 && lines.length < limit && end - from < most) {
    const begin = await lineBegin(handle, Math.max(0, from - CHUNK))
    const part = await readPart(handle, begin, from)
    if (mayPass(part, options)) lines.unshift(...new Sieve(options).lines(linesIn(part, begin)))
    from = begin
  }
  const shown = lines.slice(-limit)
  // what was cut off comes with the next page
  if (shown.length < lines.length) from = shown[0].at
  const isPartial = from > 0 && shown.length < limit
  return { lines: shown, from, to: end, atBegin: from === 0, atEnd: before >= size, isPartial, bytes: size }
}

async function forward(handle: FileHandle, size: number, options: PageOptions): Promise<Found> {
  const { after = 0, limit, most = MOST } = options
  const from = Math.min(after, size)
  const sieve = new Sieve(options)
  const lines: LogLine[] = []
  let to = from
  for (let bytes = CHUNK; to < size && lines.length < limit && to - from < most; ) {
    const part = await readPart(handle, to, Math.min(size, to + bytes))
    const whole = part.lastIndexOf(10) + 1
    if (whole === 0) {
      if (to + part.length >= size) break
      // a line that nobody reads
      if (bytes >= LONGEST_LINE) to += part.length
      else bytes *= 2
      continue
    }
    lines.push(...sieve.lines(linesIn(part.subarray(0, whole), to)))
    to += whole
  }
  const shown = lines.slice(0, limit)
  if (shown.length < lines.length) to = lines[limit].at
  const atEnd = to >= (await lineBegin(handle, size))
  return { lines: shown, from, to, atBegin: from === 0, atEnd, isPartial: !atEnd && shown.length < limit, bytes: size }
}
