import { isJsonObject } from '../../base/file/json-file.js'
import { below, type Located, listOf, located, saysSomething, textOf, unsupported } from './keywords.js'

/** Schemas that must all hold. None: anything goes. */
export type Conjunction = readonly Located[]

/** Two alternatives of a oneOf: there must be no value that fits both. */
export interface Apart {
  readonly both: Conjunction
  readonly pointer: string
  readonly which: readonly [number, number]
}

const MOST_ALTERNATIVES = 2_000
const DEEPEST = 200
const MOST_SCHEMAS = 20_000

/** A schema document: resolves references and takes combinations of schemas apart. */
export class SchemaDocument {
  readonly #root: unknown
  readonly #apart: Apart[] = []
  #taken = 0

  constructor(root: unknown) {
    this.#root = root
  }

  get root(): Conjunction | false {
    const root = located(this.#root, '#')
    return root === false ? false : root === true ? [] : [root]
  }

  /** What was found since the last time that must be apart. */
  takeApart(): Apart[] {
    return this.#apart.splice(0)
  }

  /** One of the results must hold: conjunctions of schemas that combine nothing. */
  alternatives(all: Conjunction): Conjunction[] {
    return all.reduce<Conjunction[]>((so, one) => this.#product(so, this.#expand(one, []), one.pointer), [[]])
  }

  #expand(one: Located, path: readonly string[]): Conjunction[] {
    const { schema, pointer } = one
    if (path.includes(pointer)) throw unsupported(pointer, 'it refers to itself without a value in between')
    if (path.length > DEEPEST) throw unsupported(pointer, `schemas are combined more than ${DEEPEST} deep`)
    if (++this.#taken > MOST_SCHEMAS)
      throw unsupported(pointer, `there are more than ${MOST_SCHEMAS} schemas to look at`)
    const inner = [...path, pointer]
    const of = (found: Located | boolean) =>
      typeof found === 'boolean' ? (found ? [[]] : []) : this.#expand(found, inner)
    let found: Conjunction[] = [saysSomething(one) ? [one] : []]
    const reference = textOf(one, '$ref')
    if (reference !== undefined) found = this.#product(found, of(this.#resolve(reference, pointer)), pointer)
    for (const [i, part] of (listOf(one, 'allOf') ?? []).entries()) {
      found = this.#product(found, of(located(part, below(pointer, 'allOf', i))), pointer)
    }
    for (const key of ['anyOf', 'oneOf']) {
      const options = listOf(one, key)?.map((part, i) => of(located(part, below(pointer, key, i))))
      if (!options) continue
      if (key === 'oneOf') this.#keepApart(options, pointer)
      found = this.#product(found, options.flat(), pointer)
    }
    if (schema.nullable === true)
      found = [...found, [{ schema: { type: 'null' }, pointer: below(pointer, 'nullable') }]]
    return found
  }

  #keepApart(options: readonly Conjunction[][], pointer: string): void {
    for (let i = 0; i < options.length; i++) {
      for (let j = 0; j < i; j++) {
        for (const both of this.#product(options[j], options[i], pointer)) {
          this.#apart.push({ both, pointer, which: [j, i] })
        }
      }
    }
  }

  #product(a: readonly Conjunction[], b: readonly Conjunction[], pointer: string): Conjunction[] {
    if (a.length * b.length > MOST_ALTERNATIVES) {
      throw unsupported(pointer, `its combinations make more than ${MOST_ALTERNATIVES} alternatives`)
    }
    return a.flatMap((left) => b.map((right) => [...left, ...right.filter((one) => !left.includes(one))]))
  }

  #resolve(reference: string, from: string): Located | boolean {
    const fail = (why: string) => unsupported(below(from, '$ref'), `${reference} ${why}`)
    if (reference !== '#' && !reference.startsWith('#/')) throw fail('is not a reference inside the schema')
    const keys = reference.slice(2).split('/')
    let at: unknown = this.#root
    let pointer = '#'
    for (const key of reference === '#' ? [] : keys) {
      const name = unescaped(key)
      const inside = Array.isArray(at) || isJsonObject(at) ? (at as Record<string, unknown>) : {}
      if (!Object.hasOwn(inside, name)) throw fail('leads nowhere')
      at = inside[name]
      pointer = below(pointer, name)
    }
    return located(at, pointer)
  }
}

function unescaped(key: string): string {
  const plain = key.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain
  }
}
