import { isDeepStrictEqual } from 'node:util'
import { unknownHint } from '../../base/unknown-name.js'
import type { AlgorithmFacts, Catalog } from '../catalog.js'
import { at, type MapNode, markOf, pathParts, plain } from '../node.js'
import type { Problems } from '../problem.js'
import { schemaDefault } from '../schema-default.js'
import type { Facts } from './facts.js'

/** What the rules of a section may look at besides the configuration itself. */
export class Scope {
  readonly facts: Facts
  readonly catalog: Catalog
  /** The chosen algorithm; undefined when its name is unknown, which is reported. */
  readonly algorithm: AlgorithmFacts | undefined
  readonly #tree: MapNode
  readonly #problems: Problems
  /** Keys that are wrong in the file itself: what follows from them is not worth telling. */
  readonly #wrong: readonly string[]

  constructor(facts: Facts, catalog: Catalog, algorithmType: string, tree: MapNode, problems: Problems) {
    this.facts = facts
    this.catalog = catalog
    this.#tree = tree
    this.#problems = problems
    this.#wrong = problems.errors.map((problem) => problem.key.replace(/^stages\[\d+\]\./, ''))
    this.algorithm = catalog.algorithms.find(algorithmType)
    if (!this.algorithm) this.unknownName('algorithm.algorithm_type', 'algorithm', algorithmType, catalog.algorithms)
  }

  /** Whether the key was written in the file. */
  isSet(key: string): boolean {
    return at(this.#tree, key) !== undefined
  }

  /** Whether the file asks for something other than the default. */
  isChanged(key: string): boolean {
    const node = at(this.#tree, key)
    return node !== undefined && !isDeepStrictEqual(plain(node), schemaDefault(pathParts(key)))
  }

  error(code: string, key: string, message: string, hint?: string): void {
    const follows = this.#wrong.some((wrong) => isWithin(key, wrong) || isWithin(wrong, key))
    if (!follows) this.#problems.error(code, key, message, markOf(this.#tree, key), hint)
  }

  warn(code: string, key: string, message: string, hint?: string): void {
    this.#problems.warn(code, key, message, markOf(this.#tree, key), hint)
  }

  note(code: string, key: string, message: string): void {
    this.#problems.note(code, key, message, markOf(this.#tree, key))
  }

  unknownName(key: string, kind: string, name: string, known: { names(): string[] }): void {
    this.error('unknown-name', key, `unknown ${kind} '${name}'`, unknownHint(name, known.names()))
  }
}

function isWithin(key: string, section: string): boolean {
  return key === section || key.startsWith(`${section}.`) || key.startsWith(`${section}[`)
}

/** Data sets are read, nothing is explored. */
export function isOffline(scope: Scope): boolean {
  return scope.algorithm !== undefined && scope.algorithm.schema !== 'experience'
}
