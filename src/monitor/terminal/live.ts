import { stripVTControlCharacters } from 'node:util'
import { widthOf } from '../../base/terminal/width.js'

/** Where a view is written. */
export interface ViewStream {
  write(text: string): unknown
  readonly columns?: number
  readonly rows?: number
  on?(event: 'error' | 'resize', listener: () => void): unknown
  off?(event: 'resize', listener: () => void): unknown
}

/** A stream whose reader may go away (`| head`): no reason to stop training. */
export class SafeStream implements ViewStream {
  readonly #stream: ViewStream
  #isGone = false

  constructor(stream: ViewStream) {
    this.#stream = stream
    stream.on?.('error', () => {
      this.#isGone = true
    })
  }

  get columns(): number | undefined {
    return this.#stream.columns
  }

  get rows(): number | undefined {
    return this.#stream.rows
  }

  /** Gives what takes the listener away. */
  onResize(listener: () => void): () => void {
    this.#stream.on?.('resize', listener)
    return () => this.#stream.off?.('resize', listener)
  }

  write(text: string): void {
    if (this.#isGone) return
    try {
      this.#stream.write(text)
    } catch {
      this.#isGone = true
    }
  }
}

const CLEAR_LINE = '\x1b[K'
const CLEAR_DOWN = '\x1b[J'
const up = (lines: number) => (lines > 0 ? `\x1b[${lines}A` : '')

/** A few lines at the bottom that are drawn again and again, below everything that stays. */
export class LiveBlock {
  readonly #stream: ViewStream
  #lines: readonly string[] = []

  constructor(stream: ViewStream) {
    this.#stream = stream
  }

  /** `lines` must be narrower than the terminal. Only those that have changed are written, over the old ones: nothing flickers. */
  draw(lines: readonly string[]): void {
    const before = this.#lines
    const isSame = lines.length === before.length && lines.every((line, i) => line === before[i])
    if (isSame) return
    const written = lines.map((line, i) => (line === before[i] ? '\n' : `${line}${CLEAR_LINE}\n`))
    this.#stream.write(`${this.#top()}${written.join('')}${lines.length < before.length ? CLEAR_DOWN : ''}`)
    this.#lines = lines
  }

  /** Puts lines above the block. */
  print(text: string): void {
    const lines = [...text.split('\n'), ...this.#lines].map((line) => `${line}${CLEAR_LINE}\n`)
    this.#stream.write(`${this.#top()}${lines.join('')}`)
  }

  /** The terminal has another size now: its lines may have been broken, and the block begins anew. */
  resized(): void {
    const width = this.#stream.columns ?? Number.POSITIVE_INFINITY
    const rows = this.#lines.map((line) => Math.max(1, Math.ceil(widthOf(stripVTControlCharacters(line)) / width)))
    const most = (this.#stream.rows ?? Number.POSITIVE_INFINITY) - 1
    const drawn = Math.min(
      most,
      rows.reduce((sum, count) => sum + count, 0),
    )
    if (this.#lines.length > 0) this.#stream.write(`\r${up(drawn)}${CLEAR_DOWN}`)
    this.#lines = []
  }

  /** Takes the block away. */
  clear(): void {
    if (this.#lines.length > 0) this.#stream.write(`${this.#top()}${CLEAR_DOWN}`)
    this.#lines = []
  }

  #top(): string {
    return this.#lines.length > 0 ? `\r${up(this.#lines.length)}` : ''
  }
}
