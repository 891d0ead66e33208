import { Automaton, DEAD } from './regular/automaton.js'
import { type ByteRanges, type Expression, Expressions } from './regular/expression.js'

/** A part of a grammar, by its number. */
export type Part = number

/** Nothing is written. */
export const NOTHING: Part = 0
/** Cannot be written. */
export const IMPOSSIBLE: Part = 1

export type PartForm =
  | { readonly kind: 'nothing' | 'impossible' }
  | { readonly kind: 'regular'; readonly expression: Expression }
  | { readonly kind: 'seq'; readonly first: Part; readonly rest: Part }
  | { readonly kind: 'alt'; readonly parts: readonly Part[] }
  | { readonly kind: 'repeat'; readonly part: Part; readonly min: number; readonly max: number }
  /** Stands for a part that is given later; recursion goes through these. */
  | { readonly kind: 'rule'; readonly body?: Part }

/**
 * What may be written: regular expressions over bytes, put together by sequence, choice, repetition and rules that may
 * contain themselves, as long as something is read before they do.
 */
export class Grammar {
  readonly regular: Expressions
  readonly automaton: Automaton
  readonly #forms: PartForm[] = [{ kind: 'nothing' }, { kind: 'impossible' }]
  readonly #known = new Map<string, Part>()
  #possible: boolean[] | undefined

  /** `alphabet`: the bytes that can be written; what needs others is impossible. Default all. */
  constructor(alphabet?: ByteRanges) {
    this.regular = new Expressions(alphabet)
    this.automaton = new Automaton(this.regular)
  }

  form(part: Part): PartForm {
    return this.#forms[part]
  }

  get size(): number {
    return this.#forms.length
  }

  terminal(given: Expression): Part {
    const { regular } = this
    const expression =
      regular.plain(given) || regular.writable === undefined ? given : regular.and(given, regular.writable)
    if (!this.automaton.isAlive(expression)) return IMPOSSIBLE
    return this.#intern(`t${expression}`, { kind: 'regular', expression })
  }

  text(text: string): Part {
    return this.terminal(this.regular.text(text))
  }

  seq(...parts: Part[]): Part {
    return parts.reduceRight((rest, part) => this.#pair(part, rest), NOTHING)
  }

  alt(...given: Part[]): Part {
    const parts = [...new Set(given)].filter((part) => part !== IMPOSSIBLE)
    if (parts.length < 2) return parts[0] ?? IMPOSSIBLE
    return this.#intern(`a${parts.join(',')}`, { kind: 'alt', parts })
  }

  /** `part` must not be able to write nothing. */
  repeat(part: Part, min: number, max = Number.POSITIVE_INFINITY): Part {
    if (max <= 0) return NOTHING
    if (part === IMPOSSIBLE) return min > 0 ? IMPOSSIBLE : NOTHING
    return this.#intern(`r${part},${min},${max}`, { kind: 'repeat', part, min, max })
  }

  rule(): Part {
    this.#forms.push({ kind: 'rule' })
    return this.#forms.length - 1
  }

  define(rule: Part, body: Part): void {
    this.#forms[rule] = { kind: 'rule', body }
    this.#possible = undefined
  }

  /** Whether anything finite can be written: a rule that always contains itself cannot. */
  possible(part: Part): boolean {
    const known = this.#possible?.[part]
    if (known !== undefined) return known
    const form = this.#forms[part]
    // repetitions are counted down while a text is followed, which must not cost another look at everything
    if (this.#possible && form.kind === 'repeat') return form.min === 0 || this.possible(form.part)
    this.#possible = this.#findPossible()
    return this.#possible[part]
  }

  #findPossible(): boolean[] {
    const possible: boolean[] = new Array(this.#forms.length).fill(false)
    for (let changed = true; changed; ) {
      changed = false
      for (let part = 0; part < possible.length; part++) {
        if (possible[part] || !this.#isPossible(part, possible)) continue
        possible[part] = true
        changed = true
      }
    }
    return possible
  }

  #isPossible(part: Part, possible: readonly boolean[]): boolean {
    const form = this.#forms[part]
    switch (form.kind) {
      case 'nothing':
        return true
      case 'impossible':
        return false
      case 'regular':
        return this.automaton.state(form.expression) !== DEAD
      case 'seq':
        return possible[form.first] && possible[form.rest]
      case 'alt':
        return form.parts.some((one) => possible[one])
      case 'repeat':
        return form.min === 0 || possible[form.part]
      case 'rule':
        return form.body !== undefined && possible[form.body]
    }
  }

  #pair(first: Part, rest: Part): Part {
    if (first === IMPOSSIBLE || rest === IMPOSSIBLE) return IMPOSSIBLE
    if (first === NOTHING) return rest
    if (rest === NOTHING) return first
    const form = this.#forms[first]
    if (form.kind === 'seq') return this.#pair(form.first, this.#pair(form.rest, rest))
    return this.#intern(`s${first},${rest}`, { kind: 'seq', first, rest })
  }

  #intern(key: string, form: PartForm): Part {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    this.#forms.push(form)
    this.#known.set(key, this.#forms.length - 1)
    return this.#forms.length - 1
  }
}
