const KEPT = 40
const LONGEST = 500
/** Lines that begin so are said to us and kept whole. */
const MARK = 'trinity-'

/** The last lines that a worker wrote, for errors; each line goes on to the log as well. */
export class LogRing {
  readonly #lines: string[] = []
  readonly #line: (line: string) => void
  #rest = ''

  constructor(line: (line: string) => void = () => {}) {
    this.#line = line
  }

  push(text: string): void {
    // a progress bar redraws its line: only what stands in the end counts
    const lines = (this.#rest + text).split('\n').map((line) => line.replace(/^.*\r(?=.)/s, '').replace(/\r$/, ''))
    this.#rest = lines.pop() ?? ''
    if (this.#rest.length > LONGEST * 10) lines.push(this.#take())
    for (const line of lines) this.#add(line)
  }

  /** The stream has ended. */
  end(): void {
    if (this.#rest !== '') this.#add(this.#take())
  }

  /** The last lines, oldest first. */
  last(count = 12): string[] {
    return [...this.#lines, ...(this.#rest === '' ? [] : [cut(this.#rest)])].slice(-count)
  }

  /** The newest line that begins with `mark`, without it. */
  find(mark: string): string | undefined {
    const line = this.#lines.findLast((one) => one.startsWith(mark))
    return line?.slice(mark.length)
  }

  #take(): string {
    const rest = this.#rest
    this.#rest = ''
    return rest
  }

  #add(line: string): void {
    if (line.trim() === '') return
    this.#line(line)
    this.#lines.push(line.startsWith(MARK) ? line : cut(line))
    if (this.#lines.length > KEPT) this.#lines.shift()
  }
}

function cut(line: string): string {
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line
}
