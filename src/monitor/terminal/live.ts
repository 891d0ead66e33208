/** Where a view is written. */
export interface ViewStream {
  write(text: string): unknown
  readonly columns?: number
  on?(event: 'error', listener: (error: Error) => void): unknown
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

  write(text: string): void {
    if (this.#isGone) return
    try {
      this.#stream.write(text)
    } catch {
      this.#isGone = true
    }
  }
}

const CLEAR_DOWN = '\x1b[J'
const up = (lines: number) => (lines > 0 ? `\x1b[${lines}A` : '')

/** A few lines at the bottom that are drawn again and again, below everything that stays. */
export class LiveBlock {
  readonly #stream: ViewStream
  #drawn = 0
  #text = ''

  constructor(stream: ViewStream) {
    this.#stream = stream
  }

  /** `lines` must be no wider than the terminal. */
  draw(lines: readonly string[]): void {
    const text = lines.map((line) => `${line}\n`).join('')
    if (text === this.#text) return
    this.#stream.write(`${this.#erase()}${text}`)
    this.#keep(lines.length, text)
  }

  /** Puts a line above the block. */
  print(line: string): void {
    const block = this.#text
    const count = this.#drawn
    this.#stream.write(`${this.#erase()}${line}\n${block}`)
    this.#keep(count, block)
  }

  /** Takes the block away. */
  clear(): void {
    if (this.#drawn > 0) this.#stream.write(this.#erase())
    this.#keep(0, '')
  }

  #erase(): string {
    return this.#drawn > 0 ? `\r${up(this.#drawn)}${CLEAR_DOWN}` : ''
  }

  #keep(drawn: number, text: string): void {
    this.#drawn = drawn
    this.#text = text
  }
}

/** Shortens plain text to a width. */
export function shorten(text: string, width: number): string {
  const characters = [...text]
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`
}

/** Texts side by side, in as many lines as they need. */
export function packed(texts: readonly string[], width: number): string[] {
  const lines: string[] = []
  for (const text of texts) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 2 + text.length <= width) lines[lines.length - 1] = `${last}  ${text}`
    else lines.push(text)
  }
  return lines
}

const BARS = '▁▂▃▄▅▆▇█'

/** The course of a number in a few characters. */
export function sparkline(values: readonly number[], width: number): string {
  const shown = values.filter(Number.isFinite).slice(-width)
  if (shown.length < 2) return ''
  const [low, high] = [Math.min(...shown), Math.max(...shown)]
  const bar = (value: number) => BARS[high === low ? 0 : Math.round(((value - low) / (high - low)) * (BARS.length - 1))]
  return shown.map(bar).join('')
}
