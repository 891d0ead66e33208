import { visible } from '../base/terminal/visible.js'
import { LiveBlock, type ViewStream } from '../monitor/terminal/live.js'
import { columns } from './columns.js'

/** Lines of the terminal that the question keeps. */
const FREE = 2
const USUAL_ROWS = 24

/** Replies side by side while they come: on a terminal, where they can be drawn again. */
export class Beside {
  readonly #parts: { readonly title: string; text: string }[]
  readonly #screen: ViewStream | undefined
  readonly #block: LiveBlock | undefined
  readonly #width: number

  constructor(talks: readonly { readonly name: string }[], desk: { screen?: ViewStream; width: number }) {
    this.#parts = talks.map(({ name }) => ({ title: name, text: '' }))
    this.#screen = desk.screen
    this.#block = desk.screen && new LiveBlock(desk.screen)
    // a full line would break by itself
    this.#width = desk.width - 1
  }

  add(which: number, text: string): void {
    if (!this.#block) return
    this.#parts[which].text += visible(text)
    const lines = columns(this.#parts, this.#width).split('\n')
    const room = Math.max(1, (this.#screen?.rows || USUAL_ROWS) - FREE)
    this.#block.draw(lines.length <= room ? lines : [...lines.slice(0, 2), ...lines.slice(2 - room)])
  }

  /** Makes room for the whole of them. */
  clear(): void {
    this.#block?.clear()
  }
}
