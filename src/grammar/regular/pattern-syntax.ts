import { TrinityError } from '../../base/error.js'
import { type CodePoints, complement, union } from './characters.js'
import { classOf, DOT, propertyOf } from './pattern-class.js'

/** A pattern as it is written. */
export type Pattern =
  | { readonly kind: 'set'; readonly set: CodePoints }
  | { readonly kind: 'start' | 'end' }
  | { readonly kind: 'seq' | 'alt'; readonly parts: readonly Pattern[] }
  | { readonly kind: 'repeat'; readonly part: Pattern; readonly min: number; readonly max: number }

const MOST_CHARACTERS = 10_000
const DEEPEST = 100
const CONTROL: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11, 0: 0 }

/**
 * Reads the regular part of JavaScript's regular expressions (Unicode mode): what can be decided by looking at each
 * character once. Looking around and back references are refused.
 */
export function parsePattern(source: string, path: string): Pattern {
  return new PatternReader(source, path).read()
}

class PatternReader {
  readonly #characters: readonly string[]
  readonly #source: string
  readonly #path: string
  #at = 0
  #depth = 0

  constructor(source: string, path: string) {
    this.#source = source
    this.#path = path
    if (source.length > MOST_CHARACTERS) this.#fail(`it is longer than ${MOST_CHARACTERS} characters`)
    this.#characters = [...source]
  }

  read(): Pattern {
    const pattern = this.#alternatives()
    if (this.#at < this.#characters.length) this.#fail("there is a ')' without its '('")
    return pattern
  }

  #alternatives(): Pattern {
    if (++this.#depth > DEEPEST) this.#fail(`groups are nested more than ${DEEPEST} deep`)
    const parts = [this.#sequence()]
    while (this.#take('|')) parts.push(this.#sequence())
    this.#depth--
    return parts.length === 1 ? parts[0] : { kind: 'alt', parts }
  }

  #sequence(): Pattern {
    const parts: Pattern[] = []
    for (let next = this.#peek(); next !== undefined && next !== '|' && next !== ')'; next = this.#peek()) {
      parts.push(this.#quantified(this.#atom()))
    }
    return parts.length === 1 ? parts[0] : { kind: 'seq', parts }
  }

  #quantified(part: Pattern): Pattern {
    const counts = this.#counts()
    if (!counts) return part
    if (part.kind === 'start' || part.kind === 'end') this.#fail('an anchor cannot be repeated')
    const [min, max] = counts
    if (min > max) this.#fail('a repetition has its numbers out of order')
    this.#take('?') // lazy or not, the same texts fit
    return { kind: 'repeat', part, min, max }
  }

  #counts(): [number, number] | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY]
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY]
    if (this.#take('?')) return [0, 1]
    const counted = /^\{(\d{1,9})(,?)(\d{0,9})\}/.exec(this.#characters.slice(this.#at, this.#at + 24).join(''))
    if (!counted) return undefined
    this.#at += counted[0].length
    const min = Number(counted[1])
    if (counted[2] === '') return [min, min]
    return [min, counted[3] === '' ? Number.POSITIVE_INFINITY : Number(counted[3])]
  }

  #atom(): Pattern {
    const next = this.#next()
    switch (next) {
      case '^':
        return { kind: 'start' }
      case '$':
        return { kind: 'end' }
      case '.':
        return { kind: 'set', set: DOT }
      case '(':
        return this.#group()
      case '[':
        return { kind: 'set', set: this.#class() }
      case '\\':
        return { kind: 'set', set: this.#escape(false) }
    }
    if ('*+?{'.includes(next)) this.#fail(`there is nothing to repeat before '${next}'`)
    return { kind: 'set', set: one(next.codePointAt(0)!) }
  }

  #group(): Pattern {
    if (this.#take('?') && !this.#take(':')) {
      if (!this.#take('<') || this.#peek() === '=' || this.#peek() === '!') {
        this.#fail('it looks ahead or behind, or sets flags')
      }
      while (this.#next() !== '>');
    }
    const inner = this.#alternatives()
    if (!this.#take(')')) this.#fail("a '(' is not closed")
    return inner
  }

  #class(): CodePoints {
    const inverted = this.#take('^')
    const sets: CodePoints[] = []
    while (!this.#take(']')) {
      const low = this.#member()
      if (this.#peek() !== '-' || this.#characters[this.#at + 1] === ']') {
        sets.push(low)
        continue
      }
      this.#at++
      const high = this.#member()
      if (low.length !== 2 || low[0] !== low[1] || high[0] !== high[1] || high.length !== 2 || high[0] < low[0]) {
        this.#fail('a range in brackets has its ends out of order')
      }
      sets.push([low[0], high[0]])
    }
    const set = union(...sets)
    return inverted ? complement(set) : set
  }

  #member(): CodePoints {
    const next = this.#next()
    return next === '\\' ? this.#escape(true) : one(next.codePointAt(0)!)
  }

  #escape(inClass: boolean): CodePoints {
    const letter = this.#next()
    const set = classOf(letter)
    if (set) return set
    if (letter === 'p' || letter === 'P') return this.#property(letter === 'P')
    if (letter === 'b' && inClass) return one(8)
    if (letter in CONTROL) return one(CONTROL[letter])
    if (letter === 'x') return one(this.#hex(2))
    if (letter === 'u') return one(this.#unicode())
    if (letter === 'c' && /[A-Za-z]/.test(this.#peek() ?? '')) return one(this.#next().charCodeAt(0) % 32)
    if (/[1-9k]/.test(letter)) this.#fail('it refers back to a group')
    if (/[A-Za-z]/.test(letter)) this.#fail(`\\${letter} is not known here`)
    return one(letter.codePointAt(0)!)
  }

  #property(inverted: boolean): CodePoints {
    if (!this.#take('{')) this.#fail('\\p needs a name in braces')
    let name = ''
    for (let next = this.#next(); next !== '}'; next = this.#next()) name += next
    const set = propertyOf(name)
    if (!set) this.#fail(`there is no property of characters '${name}'`)
    return inverted ? complement(set) : set
  }

  #unicode(): number {
    if (this.#take('{')) {
      let digits = ''
      for (let next = this.#next(); next !== '}'; next = this.#next()) digits += next
      return this.#number(digits)
    }
    const high = this.#hex(4)
    const low = /^\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(this.#characters.slice(this.#at, this.#at + 6).join(''))
    if (high < 0xd800 || high > 0xdbff || !low) return high
    this.#at += 6
    return 0x10000 + ((high - 0xd800) << 10) + (Number.parseInt(low[1], 16) - 0xdc00)
  }

  #hex(length: number): number {
    return this.#number(Array.from({ length }, () => this.#next()).join(''))
  }

  #number(digits: string): number {
    const code = /^[0-9a-fA-F]+$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN
    if (!(code <= 0x10ffff)) this.#fail(`'${digits}' is not a character's number`)
    return code
  }

  #peek(): string | undefined {
    return this.#characters[this.#at]
  }

  #next(): string {
    const next = this.#characters[this.#at++]
    if (next === undefined) this.#fail('it ends too soon')
    return next
  }

  #take(wanted: string): boolean {
    if (this.#peek() !== wanted) return false
    this.#at++
    return true
  }

  #fail(why: string): never {
    const shown = this.#source.length > 80 ? `${this.#source.slice(0, 80)}…` : this.#source
    throw new TrinityError('grammar/pattern', `the pattern ${shown} cannot be enforced: ${why}`, {
      path: this.#path,
      hint: 'use what regular expressions without look-around and back references have',
    })
  }
}

function one(code: number): CodePoints {
  return [code, code]
}
