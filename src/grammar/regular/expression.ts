/** A regular language over bytes, by its number in an `Expressions`. Equal numbers are the same expression. */
export type Expression = number

/** No text at all. */
export const NEVER: Expression = 0
/** The empty text. */
export const EMPTY: Expression = 1

/** Any bytes at all. */
const ANYTHING: Expression = 2

/** Sorted, apart from each other, both ends included: lo, hi, lo, hi, … */
export type ByteRanges = readonly number[]

export type Form =
  | { readonly kind: 'never' | 'empty' }
  | { readonly kind: 'bytes'; readonly ranges: ByteRanges }
  | { readonly kind: 'seq'; readonly first: Expression; readonly rest: Expression }
  | { readonly kind: 'alt' | 'and'; readonly parts: readonly Expression[] }
  | { readonly kind: 'not'; readonly part: Expression }
  | { readonly kind: 'repeat'; readonly part: Expression; readonly min: number; readonly max: number }
  /** Decimal digits of which, behind a number of remainder `rest`, the whole is a multiple of `divisor`. */
  | { readonly kind: 'multiple'; readonly divisor: number; readonly rest: number }

/**
 * Regular expressions over bytes, each kept once. Counts of repetitions stay numbers, and intersection and complement are
 * forms like any other, so that nothing is unrolled before it is needed.
 */
export class Expressions {
  readonly #forms: Form[] = [{ kind: 'never' }, { kind: 'empty' }, { kind: 'not', part: NEVER }]
  readonly #nullable: boolean[] = [false, true, true]
  readonly #plain: boolean[] = [true, true, true]
  readonly #known = new Map<string, Expression>([[`n${NEVER}`, ANYTHING]])
  readonly #alphabet: ByteRanges

  /** `alphabet`: no other bytes can be written, so that what needs them is `NEVER`. Complements still hold all bytes. */
  constructor(alphabet: ByteRanges = ALL_BYTES) {
    this.#alphabet = alphabet
  }

  /** Texts of bytes that can be written; undefined: all can. */
  get writable(): Expression | undefined {
    return isWhole(this.#alphabet) ? undefined : this.repeat(this.bytes(this.#alphabet), 0)
  }

  form(expression: Expression): Form {
    return this.#forms[expression]
  }

  /** Whether the empty text belongs to it. */
  nullable(expression: Expression): boolean {
    return this.#nullable[expression]
  }

  /** Without intersection, complement and remainders: only `NEVER` itself is then without any text. */
  plain(expression: Expression): boolean {
    return this.#plain[expression]
  }

  get size(): number {
    return this.#forms.length
  }

  bytes(given: ByteRanges): Expression {
    const ranges = isWhole(this.#alphabet) ? given : common(given, this.#alphabet)
    if (ranges.length === 0) return NEVER
    return this.#intern(`b${ranges.join(',')}`, { kind: 'bytes', ranges }, false, true)
  }

  byte(byte: number): Expression {
    return this.bytes([byte, byte])
  }

  text(text: string): Expression {
    const bytes = new TextEncoder().encode(text)
    return bytes.reduceRight((rest, byte) => this.pair(this.byte(byte), rest), EMPTY)
  }

  /** One of some texts. Common beginnings are shared, so that thousands cost no more than their length. */
  oneOf(texts: Iterable<string>): Expression {
    const encoder = new TextEncoder()
    const sorted = [...new Set(texts)].map((text) => encoder.encode(text)).sort(compareBytes)
    return this.#trie(sorted, 0, sorted.length, 0)
  }

  seq(...parts: Expression[]): Expression {
    return parts.reduceRight((rest, part) => this.pair(part, rest), EMPTY)
  }

  pair(first: Expression, rest: Expression): Expression {
    if (first === NEVER || rest === NEVER) return NEVER
    if (first === EMPTY) return rest
    if (rest === EMPTY) return first
    const form = this.#forms[first]
    if (form.kind === 'seq') return this.pair(form.first, this.pair(form.rest, rest))
    const nullable = this.#nullable[first] && this.#nullable[rest]
    return this.#intern(`s${first},${rest}`, { kind: 'seq', first, rest }, nullable, this.#allPlain([first, rest]))
  }

  alt(...given: Expression[]): Expression {
    const parts = this.#gathered('alt', given).filter((part) => part !== NEVER)
    if (parts.includes(ANYTHING)) return ANYTHING
    const bytes = parts.filter((part) => this.#forms[part].kind === 'bytes')
    const merged = bytes.length < 2 ? parts : [...parts.filter((part) => !bytes.includes(part)), this.#union(bytes)]
    if (merged.length < 2) return merged[0] ?? NEVER
    const nullable = merged.some((part) => this.#nullable[part])
    const all = merged.length === parts.length ? parts : merged.sort((a, b) => a - b)
    return this.#intern(`a${all.join(',')}`, { kind: 'alt', parts: all }, nullable, this.#allPlain(all))
  }

  and(...given: Expression[]): Expression {
    const parts = this.#gathered('and', given).filter((part) => part !== ANYTHING)
    if (parts.includes(NEVER)) return NEVER
    if (parts.length === 0) return ANYTHING
    const nullable = parts.every((part) => this.#nullable[part])
    if (parts.includes(EMPTY)) return nullable ? EMPTY : NEVER
    if (parts.length === 1) return parts[0]
    return this.#intern(`i${parts.join(',')}`, { kind: 'and', parts }, nullable, false)
  }

  not(part: Expression): Expression {
    const form = this.#forms[part]
    if (form.kind === 'not') return form.part
    return this.#intern(`n${part}`, { kind: 'not', part }, !this.#nullable[part], false)
  }

  repeat(part: Expression, min: number, max = Number.POSITIVE_INFINITY): Expression {
    if (max === 0 || part === EMPTY) return EMPTY
    if (part === NEVER) return min === 0 ? EMPTY : NEVER
    if (min === 1 && max === 1) return part
    // what may be empty may as well be left out; counting down then always means that something was read
    if (this.#nullable[part] && min > 0) return this.repeat(part, 0, max)
    const nullable = min === 0
    return this.#intern(`r${part},${min},${max}`, { kind: 'repeat', part, min, max }, nullable, this.#plain[part])
  }

  optional(part: Expression): Expression {
    return this.alt(EMPTY, part)
  }

  multiple(divisor: number, rest = 0): Expression {
    return this.#intern(`m${divisor},${rest}`, { kind: 'multiple', divisor, rest }, rest === 0, false)
  }

  #allPlain(parts: readonly Expression[]): boolean {
    return parts.every((part) => this.#plain[part])
  }

  #gathered(kind: 'alt' | 'and', given: readonly Expression[]): Expression[] {
    const all = new Set<Expression>()
    for (const one of given) {
      const form = this.#forms[one]
      for (const part of form.kind === kind ? (form as { parts: readonly Expression[] }).parts : [one]) all.add(part)
    }
    return [...all].sort((a, b) => a - b)
  }

  #union(bytes: readonly Expression[]): Expression {
    const pairs = bytes.flatMap((part) => pairsOf((this.#forms[part] as { ranges: ByteRanges }).ranges))
    return this.bytes(mergedRanges(pairs))
  }

  #trie(sorted: readonly Uint8Array[], from: number, to: number, depth: number): Expression {
    const options: Expression[] = []
    let at = from
    if (at < to && sorted[at].length === depth) {
      options.push(EMPTY)
      at++
    }
    while (at < to) {
      const byte = sorted[at][depth]
      let end = at + 1
      while (end < to && sorted[end][depth] === byte) end++
      options.push(this.pair(this.byte(byte), this.#trie(sorted, at, end, depth + 1)))
      at = end
    }
    return this.alt(...options)
  }

  #intern(key: string, form: Form, nullable: boolean, plain: boolean): Expression {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const made = this.#forms.length
    this.#forms.push(form)
    this.#nullable.push(nullable)
    this.#plain.push(plain)
    this.#known.set(key, made)
    return made
  }
}

const ALL_BYTES: ByteRanges = [0, 255]

/** Whether it is all bytes. */
export function isWhole(ranges: ByteRanges): boolean {
  return ranges[0] === 0 && ranges[1] === 255
}

function common(one: ByteRanges, other: ByteRanges): number[] {
  const pairs = pairsOf(one).flatMap(([low, high]) =>
    pairsOf(other).map(([from, to]): [number, number] => [Math.max(low, from), Math.min(high, to)]),
  )
  return mergedRanges(pairs.filter(([low, high]) => low <= high))
}

/** Ranges in order, those that touch made one. */
export function mergedRanges(pairs: readonly (readonly [number, number])[]): number[] {
  const merged: number[] = []
  for (const [low, high] of [...pairs].sort(([a], [b]) => a - b)) {
    if (merged.length > 0 && low <= merged[merged.length - 1] + 1) {
      merged[merged.length - 1] = Math.max(merged[merged.length - 1], high)
    } else merged.push(low, high)
  }
  return merged
}

export function pairsOf(ranges: readonly number[]): [number, number][] {
  return Array.from({ length: ranges.length / 2 }, (_, i) => [ranges[2 * i], ranges[2 * i + 1]])
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b)
}
