import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { LEVELS, type Level } from './log-dir.js'

export interface LogLine {
  readonly text: string
  /** Of the line itself, or of the last one before it that has any: a stack trace belongs to its message. */
  readonly level: Level
}

const CHUNK = 1 << 16
const NEWLINE = 10

/** A log file that grows, is begun anew, or is moved aside and replaced. */
export class LogFile {
  readonly path: string
  #fd: number | undefined
  #ino = -1
  #offset = 0
  /** Of a line whose end is not there yet. */
  #rest: Buffer = Buffer.alloc(0)
  #level: Level = 'INFO'

  constructor(path: string) {
    this.path = path
  }

  /** Whole lines that have come since the last call. */
  read(): LogLine[] {
    const lines = this.#fd === undefined ? [] : this.#readOn()
    const now = statSync(this.path, { throwIfNoEntry: false })
    if (!now) return lines
    if (this.#fd !== undefined && now.ino === this.#ino) {
      if (now.size >= this.#offset) return lines
      this.#begin()
    } else {
      // what was written to the old one between the read and the move
      if (this.#fd !== undefined) lines.push(...this.#readOn())
      lines.push(...this.#lastLine())
      this.close()
      this.#begin()
      this.#fd = openSync(this.path, 'r')
      this.#ino = fstatSync(this.#fd).ino
    }
    lines.push(...this.#readOn())
    return lines
  }

  /** What stands behind the last line end. */
  end(): LogLine[] {
    return this.#lastLine()
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd)
    this.#fd = undefined
  }

  #begin(): void {
    this.#offset = 0
    this.#rest = Buffer.alloc(0)
  }

  #readOn(): LogLine[] {
    const chunks = [this.#rest]
    for (;;) {
      const chunk = Buffer.alloc(CHUNK)
      const count = readSync(this.#fd as number, chunk, 0, CHUNK, this.#offset)
      this.#offset += count
      chunks.push(chunk.subarray(0, count))
      if (count < CHUNK) break
    }
    const bytes = Buffer.concat(chunks)
    const end = bytes.lastIndexOf(NEWLINE) + 1
    this.#rest = Buffer.from(bytes.subarray(end))
    if (end === 0) return []
    return bytes
      .toString('utf8', 0, end - 1)
      .split('\n')
      .map((text) => this.#line(text))
  }

  #lastLine(): LogLine[] {
    if (this.#rest.length === 0) return []
    const text = this.#rest.toString()
    this.#rest = Buffer.alloc(0)
    return [this.#line(text)]
  }

  #line(raw: string): LogLine {
    const text = raw.endsWith('\r') ? raw.slice(0, -1) : raw
    this.#level = levelOfLine(text) ?? this.#level
    return { text, level: this.#level }
  }
}

const ALIASES: Readonly<Record<string, Level>> = { WARN: 'WARNING', CRITICAL: 'ERROR', FATAL: 'ERROR' }

/** The first word, if it is a level. */
export function levelOfLine(line: string): Level | undefined {
  const word = /^[A-Z]+/.exec(line)?.[0]
  if (word === undefined) return undefined
  return ALIASES[word] ?? LEVELS.find((level) => level === word)
}
