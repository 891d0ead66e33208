/** A value of a veRL setting, as hydra and YAML give it. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value }

const MAX_DEPTH = 50

/**
 * A hydra override value: quoted text, list, dict, null, boolean, number, else the text as it is. Never fails: text that
 * is not a proper list or dict is a string, as users see it in their own logs.
 */
export function parseHydraValue(text: string): Value {
  const reader = new ValueReader(text)
  const value = reader.value('')
  return value !== undefined && reader.done() ? value : text.trim()
}

class ValueReader {
  #at = 0
  #depth = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  done(): boolean {
    this.#blanks()
    return this.#at >= this.#text.length
  }

  /** A value that ends before one of `ends` (outside quotes and brackets); undefined when the text is not well formed. */
  value(ends: string): Value | undefined {
    this.#blanks()
    const c = this.#text[this.#at]
    if (c === '[' || c === '{') {
      if (++this.#depth > MAX_DEPTH) return undefined
      const value = c === '[' ? this.#list() : this.#dict()
      this.#depth--
      return value
    }
    if (c === "'" || c === '"') {
      const start = this.#at
      const quoted = this.#quoted(c)
      this.#blanks()
      if (quoted !== undefined && (this.#at >= this.#text.length || ends.includes(this.#text[this.#at]))) return quoted
      this.#at = start
    }
    return primitive(this.#raw(ends))
  }

  #list(): Value[] | undefined {
    const values: Value[] = []
    this.#at++
    for (;;) {
      this.#blanks()
      if (this.#text[this.#at] === ']') {
        this.#at++
        return values
      }
      const value = this.value(',]')
      if (value === undefined) return undefined
      values.push(value)
      this.#blanks()
      if (this.#text[this.#at] === ',') this.#at++
      else if (this.#text[this.#at] !== ']') return undefined
    }
  }

  #dict(): { [key: string]: Value } | undefined {
    const entries: [string, Value][] = []
    this.#at++
    for (;;) {
      this.#blanks()
      if (this.#text[this.#at] === '}') {
        this.#at++
        return Object.fromEntries(entries)
      }
      const key = this.value(':,}')
      this.#blanks()
      if (key === undefined || this.#text[this.#at] !== ':') return undefined
      this.#at++
      const value = this.value(',}')
      if (value === undefined) return undefined
      entries.push([String(key), value])
      this.#blanks()
      if (this.#text[this.#at] === ',') this.#at++
      else if (this.#text[this.#at] !== '}') return undefined
    }
  }

  #quoted(quote: string): string | undefined {
    let text = ''
    for (let i = this.#at + 1; i < this.#text.length; i++) {
      const c = this.#text[i]
      if (c === '\\' && (this.#text[i + 1] === quote || this.#text[i + 1] === '\\')) text += this.#text[++i]
      else if (c === quote) {
        this.#at = i + 1
        return text
      } else text += c
    }
    return undefined
  }

  /** Text up to an end character; `${…}` counts as one piece. */
  #raw(ends: string): string {
    const start = this.#at
    while (this.#at < this.#text.length && !ends.includes(this.#text[this.#at])) {
      this.#at = this.#text.startsWith('${', this.#at) ? interpolationEnd(this.#text, this.#at) : this.#at + 1
    }
    return this.#text.slice(start, this.#at)
  }

  #blanks(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++
  }
}

/** The position after the `}` that closes the `${` at `start`, or after the `${` when nothing closes it. */
export function interpolationEnd(text: string, start: number): number {
  let depth = 0
  for (let i = start; i < text.length; i++) {
    if (text[i] === '{') depth++
    else if (text[i] === '}' && --depth === 0) return i + 1
  }
  return start + 2
}

function primitive(raw: string): Value {
  const text = raw.trim()
  const lower = text.toLowerCase()
  if (lower === 'null' || lower === 'none') return lower === 'null' ? null : text
  if (lower === 'true') return true
  if (lower === 'false') return false
  if (/^[-+]?(\d[\d_]*\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text)) return Number(text.replaceAll('_', ''))
  return text
}
