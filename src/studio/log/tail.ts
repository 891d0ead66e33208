import { open, stat } from 'node:fs/promises'
import { READ_NOW } from '../../base/file/read-now.js'
import { linesIn, type PlacedLine, readPart } from '../run/lines.js'

/** Most that one look reads: a log that grows faster is caught up with in several. */
const MOST = 1 << 20

/** The end of a log that grows, is begun anew, or is replaced. */
export class Tail {
  readonly path: string
  #at: number | undefined
  #ino = -1

  /** `from`: the byte to begin at; default: the end as it is at the first look. */
  constructor(path: string, from?: number) {
    this.path = path
    this.#at = from
  }

  async read(): Promise<{ restarted: boolean; lines: PlacedLine[] }> {
    const now = await stat(this.path).catch(() => undefined)
    if (!now) return { restarted: false, lines: [] }
    const restarted = this.#ino !== -1 && (now.ino !== this.#ino || now.size < (this.#at ?? 0))
    if (restarted) this.#at = 0
    this.#ino = now.ino
    this.#at ??= now.size
    if (now.size <= this.#at) return { restarted, lines: [] }
    const file = await open(this.path, READ_NOW)
    try {
      const part = await readPart(file, this.#at, Math.min(now.size, this.#at + MOST))
      const whole = part.lastIndexOf(10) + 1
      const lines = linesIn(part.subarray(0, whole), this.#at)
      // a line longer than a look can be: nobody reads it
      this.#at += whole === 0 && part.length === MOST ? MOST : whole
      return { restarted, lines }
    } finally {
      await file.close()
    }
  }
}
