import { widthOf } from '../../base/terminal/width.js'
import type { ViewStream } from './live.js'

const ESCAPE = String.fromCharCode(27)
const PIECE = new RegExp(`${ESCAPE}\\[([\\d;]*)([A-Za-z])|\\r|\\n|[^${ESCAPE}\\r\\n]`, 'gu')

/** A terminal: what is on the screen after everything that was written. */
export class Screen implements ViewStream {
  columns: number
  rows: number
  text = ''
  /** Rows of cells; the second cell of a wide character is empty text. */
  #cells: string[][] = [[]]
  #row = 0
  #column = 0
  readonly #onResize = new Set<() => void>()

  constructor(columns = 80, rows = 24) {
    this.columns = columns
    this.rows = rows
  }

  get listeners(): number {
    return this.#onResize.size
  }

  on(event: string, listener: () => void): void {
    if (event === 'resize') this.#onResize.add(listener)
  }

  off(_event: string, listener: () => void): void {
    this.#onResize.delete(listener)
  }

  /** Lines that are too wide now are broken, as most terminals do. */
  resize(columns: number, rows: number): void {
    this.columns = columns
    this.rows = rows
    const cursor = this.#cells[this.#row]
    this.#cells = this.#cells.flatMap((line) =>
      line.length <= columns
        ? [line]
        : Array.from({ length: Math.ceil(line.length / columns) }, (_, i) =>
            line.slice(i * columns, (i + 1) * columns),
          ),
    )
    this.#row = this.#cells.indexOf(cursor)
    for (const listener of this.#onResize) listener()
  }

  write = (text: string): void => {
    this.text += text
    for (const [piece, n, code] of text.matchAll(PIECE)) {
      if (code === 'A') this.#row = Math.max(0, this.#row - Number(n || 1))
      else if (code === 'J') {
        this.#cells.length = this.#row + 1
        this.#cells[this.#row].length = this.#column
      } else if (code === 'K') this.#cells[this.#row].length = Math.min(this.#column, this.#cells[this.#row].length)
      else if (piece === '\r') this.#column = 0
      else if (piece === '\n') [this.#row, this.#column] = [this.#row + 1, 0]
      else if (code === undefined) this.#put(piece)
      this.#cells[this.#row] ??= []
    }
  }

  /** Lines that are visible, without colors. */
  lines(): string[] {
    const lines = this.#cells.map((cells) =>
      Array.from(cells, (cell) => cell ?? ' ')
        .join('')
        .trimEnd(),
    )
    return lines.slice(0, lines.findLastIndex((line) => line !== '') + 1)
  }

  #put(character: string): void {
    this.#cells[this.#row][this.#column++] = character
    if (widthOf(character) === 2) this.#cells[this.#row][this.#column++] = ''
    if (this.#column > this.columns) throw new Error(`a line is wider than ${this.columns} columns`)
  }
}
