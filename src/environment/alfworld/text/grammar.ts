import { type Entity, readExpression } from './expression.js'
import { type Context, type Facts, type Placeholders, Query } from './query.js'
import { readQuery, readSymbols, type TextPart, type Value } from './symbols.js'
import { type Alternative, broken } from './twl2.js'

/** What a text is about. */
export interface Subject {
  readonly facts: Facts
  readonly entities: readonly Entity[]
  /** Texts of this game alone, by name of the rule. */
  readonly own: ReadonlyMap<string, string>
}

/** Writes a text in a context. */
export type Writer = (context: Context, subject: Subject) => string

/** Where an expression stands. */
interface Page extends Pick<Subject, 'entities'> {
  readonly context: Context
}

/** Rules that may lead back to themselves end here. */
const MAX_DEPTH = 100

/** The rules by which a game writes. They are read when a text first needs them. */
export class Grammar {
  readonly #placeholders: Placeholders
  readonly #rules: ReadonlyMap<string, readonly Alternative[]>
  readonly #number: (predicate: string) => number | undefined
  readonly #path: string
  readonly #writers = new Map<string, Writer>()
  #depth = 0

  constructor(
    rules: ReadonlyMap<string, readonly Alternative[]>,
    placeholders: Placeholders,
    number: (predicate: string) => number | undefined,
    path: string,
  ) {
    this.#placeholders = placeholders
    this.#rules = rules
    this.#number = number
    this.#path = path
  }

  writer(text: string): Writer {
    return this.#sequence(readSymbols(text))
  }

  #sequence(symbols: readonly TextPart[]): Writer {
    const writers = symbols.map((symbol) => this.#symbol(symbol))
    if (writers.length === 1) return writers[0]
    return (context, subject) => {
      let text = ''
      for (const write of writers) text += write(context, subject)
      return text
    }
  }

  #symbol(symbol: TextPart): Writer {
    if (symbol.kind === 'words') return () => symbol.text
    if (symbol.kind === 'rule') return this.#rule(symbol.name)
    const write = this.#value(symbol.of)
    if (symbol.given === undefined) return write
    const query = this.#query(symbol.given)
    const list = symbol.isList ? this.#list() : (texts: readonly string[]) => texts.join('')
    return (context, subject) => {
      const texts: string[] = []
      query.each(context, subject.facts, () => texts.push(write(context, subject)))
      return list(texts, context, subject)
    }
  }

  #value(value: Value): Writer {
    if (value.kind === 'rule') return this.#rule(value.name)
    const read = readExpression<Page>(value.code, this.#path, (name) => {
      const placeholders = this.#placeholders.named(name)
      return ({ context, entities }) => {
        for (const placeholder of placeholders) {
          const object = context[placeholder]
          if (object !== undefined) return entities[object]
        }
        throw broken(`nothing is called '${name}' where '${value.code}' is written`, this.#path)
      }
    })
    return (context, { entities }) => read({ context, entities })
  }

  /** `a, b, and c`, by the rules that the grammar has for it. */
  #list(): (texts: readonly string[], context: Context, subject: Subject) => string {
    const [empty, separator, last] = ['list_empty', 'list_separator', 'list_last_separator'].map((name) =>
      this.#rule(name),
    )
    return (texts, context, subject) => {
      if (texts.length === 0) return empty(context, subject)
      if (texts.length === 1) return texts[0]
      const head = texts.slice(0, -1).join(separator(context, subject))
      return head + last(context, subject) + texts.at(-1)
    }
  }

  /** The first alternative whose condition holds. */
  #rule(name: string): Writer {
    const known = this.#writers.get(name)
    if (known) return known
    // Set before its parts are read: a rule may name itself.
    let alternatives: readonly (readonly [Query | undefined, Writer])[] | undefined
    const writer: Writer = (context, subject) => {
      const own = subject.own.get(name)
      if (own !== undefined) return this.writer(own)(context, subject)
      const [, write] = alternatives?.find(([query]) => query?.holds(context, subject.facts) ?? true) ?? []
      if (!write) throw broken(`no part of the rule '${name}' applies`, this.#path)
      return this.#guarded(name, () => write(context, subject))
    }
    this.#writers.set(name, writer)
    const rules = this.#rules.get(name)
    if (!rules) throw broken(`there is no rule '${name}'`, this.#path)
    alternatives = rules.map(({ condition, text }) => [
      condition === '' ? undefined : this.#query(condition),
      this.writer(text),
    ])
    return writer
  }

  #guarded(name: string, write: () => string): string {
    if (this.#depth >= MAX_DEPTH) throw broken(`the rule '${name}' leads back to itself`, this.#path)
    this.#depth++
    try {
      return write()
    } finally {
      this.#depth--
    }
  }

  #query(text: string): Query {
    return new Query(readQuery(text, this.#path), this.#placeholders, this.#number)
  }
}
