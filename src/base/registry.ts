import { type ArgumentSchema, parseArguments } from './arguments.js'
import { classOf, nameOfClass } from './class-path.js'
import { TrinityError } from './error.js'
import { unknownHint } from './unknown-name.js'

/** Checked by the schema of the entry they belong to. */
export type Arguments = Record<string, unknown>

/**
 * A typed map from name to implementation. Adding a thing is one `add` (in its own file or in a user's plugin);
 * a plugin may replace a built-in of the same name, but two built-ins never share one.
 * @example
 * import { Registry } from 'trinity-rft/plugin'
 *
 * const greetings = new Registry<string>('greeting', { english: 'hello' })
 * greetings.add('french', 'salut')
 * console.log(greetings.get('french'), greetings.names())
 */
export class Registry<T> {
  /** What the entries are, as it reads in an error: `advantage function`. */
  readonly kind: string
  readonly #entries = new Map<string, T>()

  constructor(kind: string, entries: Record<string, T> = {}) {
    this.kind = kind
    for (const [name, entry] of Object.entries(entries)) this.add(name, entry)
  }

  add(name: string, entry: T, options: { replace?: boolean } = {}): this {
    if (this.#entries.has(name) && !options.replace) {
      throw new TrinityError('registry/duplicate', `there is already a ${this.kind} named '${name}'`, {
        path: name,
        hint: `choose another name, or pass { replace: true } to override it`,
      })
    }
    this.#entries.set(name, entry)
    return this
  }

  has(name: string): boolean {
    return this.find(name) !== undefined
  }

  /** Files of the Python original may name a class by its import path: its last name counts. */
  find(name: string): T | undefined {
    const entry = this.#entries.get(name)
    const own = entry === undefined ? classOf(name) : undefined
    const meant = own && nameOfClass(own, this.names())
    return meant ? this.#entries.get(meant) : entry
  }

  get(name: string): T {
    const entry = this.find(name)
    if (entry !== undefined) return entry
    throw new TrinityError('registry/unknown', `unknown ${this.kind} '${name}'`, {
      path: name,
      hint: unknownHint(name, this.names()),
    })
  }

  /** Arguments of the entry of that name, as they stand at `path` of a configuration, with the defaults filled in. */
  parse(this: Registry<{ readonly args: ArgumentSchema }>, name: string, given: unknown, path: string): Arguments {
    return parseArguments(`${this.kind} '${name}'`, this.get(name).args, given, path) as Arguments
  }

  names(): string[] {
    return [...this.#entries.keys()]
  }
}
