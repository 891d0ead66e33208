import { type Lisp, wordOf } from './lisp.js'

/** A name and its type: a parameter, an object, a type below another. */
export interface Typed {
  readonly name: string
  readonly type: string
}

/** `a b - t c`: a and b are of type t, c of the type of everything. */
export function readTyped(list: readonly Lisp[], path: string): Typed[] {
  const typed: Typed[] = []
  let names: string[] = []
  for (let at = 0; at < list.length; at++) {
    const word = wordOf(list[at], 'a name in a list with types', path)
    if (word !== '-') names.push(word)
    else {
      const type = wordOf(list[++at], "what stands after '-'", path)
      typed.push(...names.map((name) => ({ name, type })))
      names = []
    }
  }
  return [...typed, ...names.map((name) => ({ name, type: EVERYTHING }))]
}

const EVERYTHING = 'object'

/** Which types are kinds of which. */
export class Types {
  readonly #ancestors = new Map<string, ReadonlySet<string>>()

  constructor(types: readonly Typed[]) {
    const parents = new Map<string, string>()
    for (const { name, type } of types) if (name !== EVERYTHING) parents.set(name, type)
    for (const name of [EVERYTHING, ...parents.keys()]) {
      const line = new Set<string>()
      for (let at: string | undefined = name; at !== undefined && !line.has(at); at = parents.get(at)) line.add(at)
      this.#ancestors.set(name, line.add(EVERYTHING))
    }
  }

  /** No object is of a type that nobody declared. */
  isA(type: string, ancestor: string): boolean {
    return this.#ancestors.get(type)?.has(ancestor) ?? false
  }
}
