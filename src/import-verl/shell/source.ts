import { TrinityError } from '../../base/error.js'

/** A text with a reading position and the line it is on. Reading past the end gives ''. */
export class SourceText {
  #at = 0
  #depth = 0
  line = 1
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  peek(ahead = 0): string {
    return this.#text[this.#at + ahead] ?? ''
  }

  next(): string {
    const c = this.#text[this.#at] ?? ''
    if (c === '') return c
    this.#at++
    if (c === '\n') this.line++
    return c
  }

  starts(text: string): boolean {
    return this.#text.startsWith(text, this.#at)
  }

  /** Moves on by `count` characters; returns '' so that it can stand in an expression. */
  skip(count: number): string {
    for (let i = 0; i < count; i++) this.next()
    return ''
  }

  /** Runs a reader one level deeper; text nested deeper than any script is refused rather than overflowing the stack. */
  nested<T>(read: () => T): T {
    if (++this.#depth > 100)
      throw open('quotes and brackets nested over 100 deep: one', this.line, 'simplify the script')
    try {
      return read()
    } finally {
      this.#depth--
    }
  }

  /** To the end of the line, before its newline. */
  skipLine(): void {
    while (this.peek() !== '' && this.peek() !== '\n') this.next()
  }
}

/** The inside of '…' after the opening quote; with `ansi` the escapes of $'…' are decoded. */
export function readSingleQuoted(source: SourceText, ansi = false): string {
  const line = source.line
  let text = ''
  for (;;) {
    const c = source.next()
    if (c === '') throw open('a single quote', line, "add the missing '")
    if (c === "'") return text
    if (ansi && c === '\\') text += ANSI[source.peek()] ?? `\\${source.peek()}`
    if (ansi && c === '\\') source.next()
    else text += c
  }
}
const ANSI: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"', e: '\x1b', a: '\x07' }

/** The inside of `${…}` after `${`, up to the brace that closes it. */
export function readBraced(source: SourceText): string {
  return source.nested(() => readNested(source, '{', '}', 1))
}

/** The inside of `$(…)` (depth 1) or `((…))` (depth 2), the opening parentheses already read. */
export function readParens(source: SourceText, depth: 1 | 2): string {
  const text = source.nested(() => readNested(source, '(', ')', depth))
  return depth === 2 ? text.replace(/\)$/, '') : text
}

function readNested(source: SourceText, opening: string, closing: string, depth: number): string {
  const line = source.line
  let text = ''
  let open_ = depth
  for (;;) {
    const c = source.next()
    if (c === '') throw open(`${opening === '{' ? '${' : '('}`, line, `add the missing ${closing}`)
    if (c === '\\') {
      text += c + source.next()
      continue
    }
    if (c === "'" && opening === '(') {
      text += `'${readSingleQuoted(source)}'`
      continue
    }
    if (c === '"') {
      text += c + readToQuote(source)
      continue
    }
    if (c === opening) open_++
    if (c === closing && --open_ === 0) return text
    text += c
  }
}

/** "…" inside a nested text, kept as it is, the closing quote included. */
function readToQuote(source: SourceText): string {
  const line = source.line
  let text = ''
  for (;;) {
    const c = source.next()
    if (c === '') throw open('a double quote', line, 'add the missing "')
    text += c
    if (c === '"') return text
    if (c === '\\') text += source.next()
    else if (c === '$' && source.peek() === '(') {
      source.next()
      text += `(${readParens(source, 1)})`
    } else if (c === '$' && source.peek() === '{') {
      source.next()
      text += `{${readBraced(source)}}`
    }
  }
}

/** The lines up to the delimiter, or to the end of the text as bash does. */
export function readHeredoc(source: SourceText, delimiter: string, indented: boolean): string {
  const lines: string[] = []
  while (source.peek() !== '') {
    let line = ''
    while (source.peek() !== '\n' && source.peek() !== '') line += source.next()
    source.next()
    if (indented) line = line.replace(/^\t+/, '')
    if (line.replace(/\r$/, '') === delimiter) break
    lines.push(line)
  }
  return lines.join('\n')
}

function open(what: string, line: number, hint: string): TrinityError {
  return new TrinityError('verl/shell-syntax', `${what} is opened and never closed`, { path: `line ${line}`, hint })
}
