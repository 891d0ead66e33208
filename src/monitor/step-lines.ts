import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { makeFolderSync } from '../base/file/make-folder.js'

/**
 * A file with a JSON object on each line, each with a `step`. What was written stays whatever way the process ends; a
 * last line that was cut in the middle is mended, or left out, when the file is opened again.
 */
export class StepLines {
  readonly path: string
  readonly #mend: (cut: string) => string | undefined
  #fd: number | undefined
  #size = 0

  constructor(path: string, mend: (cut: string) => string | undefined = () => undefined) {
    this.path = path
    this.#mend = mend
  }

  /** Bytes so far: where the next line begins. */
  get size(): number {
    this.#open()
    return this.#size
  }

  lines(): string[] {
    this.#open()
    return fs.readFileSync(this.path, 'utf8').split('\n').slice(0, -1)
  }

  append(line: string): void {
    this.writeEnd(this.size, `${line}\n`)
  }

  /** Everything from `position` on becomes `text`. */
  writeEnd(position: number, text: string): void {
    const fd = this.#open()
    const bytes = Buffer.from(text)
    try {
      for (let done = 0; done < bytes.length; ) {
        done += fs.writeSync(fd, bytes, done, bytes.length - done, position + done)
      }
    } catch (error) {
      // A full disk leaves a part of it: the next use of the file mends that.
      this.close()
      throw error
    }
    this.#size = position + bytes.length
  }

  /** Replaces the whole file in one piece. */
  rewrite(lines: readonly string[]): void {
    this.close()
    makeFolderSync(dirname(this.path))
    const beside = `${this.path}.${process.pid}.tmp`
    fs.writeFileSync(beside, lines.map((line) => `${line}\n`).join(''), { flush: true })
    fs.renameSync(beside, this.path)
  }

  /** Leaves out every line of a later step. */
  rewind(step: number): void {
    const lines = this.lines()
    const kept = lines.filter((line) => stepOf(line) <= step)
    if (kept.length < lines.length) this.rewrite(kept)
  }

  close(): void {
    if (this.#fd !== undefined) fs.closeSync(this.#fd)
    this.#fd = undefined
  }

  #open(): number {
    if (this.#fd !== undefined) return this.#fd
    makeFolderSync(dirname(this.path))
    const fd = fs.openSync(this.path, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o644)
    const text = fs.readFileSync(fd)
    const sound = soundBytes(text)
    this.#fd = fd
    this.#size = text.length
    if (sound < text.length) {
      const mended = this.#mend(text.toString('utf8', sound).trimEnd())
      const line = mended === undefined ? '' : `${mended}\n`
      this.writeEnd(sound, line)
      fs.ftruncateSync(fd, this.#size)
    }
    return fd
  }
}

/** How many bytes are whole lines; only the last line can be cut. */
function soundBytes(text: Buffer): number {
  if (text.length === 0) return 0
  const whole = text[text.length - 1] === NEWLINE
  const begin = text.lastIndexOf(NEWLINE, whole ? text.length - 2 : text.length - 1) + 1
  return whole && isObject(text.toString('utf8', begin)) ? text.length : begin
}
const NEWLINE = 10

export function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}

/** Lines that people put in have no step and are never in the way. */
function stepOf(line: string): number {
  try {
    const step = (JSON.parse(line) as { step?: unknown }).step
    return typeof step === 'number' ? step : Number.NEGATIVE_INFINITY
  } catch {
    return Number.NEGATIVE_INFINITY
  }
}
