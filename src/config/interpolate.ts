import { dirname, join } from 'node:path'
import { nearest } from '../base/nearest.js'
import { HIDDEN, isHarmless, isSecretVariable, rememberSecret } from '../base/secret/index.js'
import { child, type MapNode, type Mark, type Node, nodeOf, pathParts, type ScalarNode, scalarNode } from './node.js'
import type { Problems } from './problem.js'
import { schemaDefault } from './schema-default.js'
import { decode, hasTemplate, parseTemplate, splitArguments, TemplateError, unquote } from './template.js'

export type Env = Readonly<Record<string, string | undefined>>

const RESOLVERS = ['oc.env', 'oc.decode', 'oc.select', 'config.dir'] as const
/** Stops references that multiply. */
const MAX_NODES = 200_000
const MAX_LETTERS = 1 << 20
const MAX_DEPTH = 60

/**
 * Replaces every `${...}` of a configuration. Problems are reported where the text stands. `written` is the file with
 * its older names, under which it may refer to its own keys.
 */
export function interpolate(tree: MapNode, env: Env, problems: Problems, written?: MapNode): MapNode {
  return new Interpolation(tree, env, problems, written).run()
}

/** Replaces `${oc.env:...}` and literals in a single text that stands outside a configuration. */
export function interpolateText(node: ScalarNode, env: Env, problems: Problems): Node {
  const tree: MapNode = { kind: 'map', mark: node.mark, entries: new Map([['extends', { mark: node.mark, node }]]) }
  return child(interpolate(tree, env, problems), 'extends') as Node
}

class Interpolation {
  readonly #root: MapNode
  readonly #written: MapNode | undefined
  readonly #env: Env
  readonly #problems: Problems
  readonly #done = new Map<string, Node>()
  /** Paths under evaluation: who waits for whom. */
  readonly #open: string[] = []
  readonly #sizes = new WeakMap<Node, number>()
  #count = 0
  #depth = 0

  constructor(root: MapNode, env: Env, problems: Problems, written?: MapNode) {
    this.#root = root
    this.#written = written
    this.#env = env
    this.#problems = problems
  }

  run(): MapNode {
    return this.#resolve(this.#root, []) as MapNode
  }

  #resolve(node: Node, path: readonly string[], from: MapNode | undefined = this.#root): Node {
    if (node.kind === 'scalar' && !(node.type === 'str' && hasTemplate(node.text))) return node
    const id = `${path.join('.')}${from === this.#root ? '' : ' (as written)'}`
    const done = this.#done.get(id)
    if (done) return done
    if (this.#open.includes(id)) {
      const chain = [...this.#open.slice(this.#open.indexOf(id)), id].join(' → ')
      return this.#fail(node, id, `refers to itself: ${chain}`)
    }
    if (++this.#count > MAX_NODES || this.#open.length > MAX_DEPTH * 4)
      return this.#fail(node, id, 'references expand without end')
    this.#open.push(id)
    const made = this.#evaluate(node, path, id, from)
    const value = this.#sizeOf(made) > MAX_NODES ? this.#fail(node, id, 'references expand without end') : made
    this.#open.pop()
    this.#done.set(id, value)
    return value
  }

  #evaluate(node: Node, path: readonly string[], id: string, from: MapNode | undefined): Node {
    if (node.kind === 'list') {
      return { ...node, items: node.items.map((item, i) => this.#resolve(item, [...path, String(i)], from)) }
    }
    if (node.kind === 'map') {
      const entries = [...node.entries].map(([key, entry]) => {
        return [key, { ...entry, node: this.#resolve(entry.node, [...path, key], from) }] as const
      })
      return { ...node, entries: new Map(entries) }
    }
    try {
      const made = this.#text(node.text, path, node.mark)
      return made.kind === 'scalar' ? { ...made, written: made.written ?? node.text } : made
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error
      return this.#fail(node, id, error.message)
    }
  }

  /** Nodes below, counting a map once for every place that refers to it. */
  #sizeOf(node: Node): number {
    if (node.kind === 'scalar') return 1
    const known = this.#sizes.get(node)
    if (known !== undefined) return known
    const below = node.kind === 'list' ? node.items : [...node.entries.values()].map((entry) => entry.node)
    const size = below.reduce((sum, one) => sum + this.#sizeOf(one), 1)
    this.#sizes.set(node, size)
    return size
  }

  #fail(node: Node, key: string, message: string): ScalarNode {
    const [text, hint] = message.split('\n')
    this.#problems.error('interpolation', key, text, node.mark, hint)
    return { kind: 'scalar', type: 'null', value: null, text: '', mark: node.mark, failed: true }
  }

  /** A text with `${...}` in it; one that is nothing but a `${...}` keeps the type of what it refers to. */
  #text(text: string, path: readonly string[], mark: Mark): Node {
    if (++this.#depth > MAX_DEPTH) throw new TemplateError('nested too deeply')
    try {
      const parts = parseTemplate(text)
      const values = parts.map((part) => ('text' in part ? part.text : this.#code(part.code, path, mark)))
      const [only] = values
      if (values.length === 1) return typeof only === 'string' ? scalarNode(only, mark) : only
      const whole = values.map((value) => (typeof value === 'string' ? value : this.#asText(value))).join('')
      if (whole.length > MAX_LETTERS) throw new TemplateError('references expand without end')
      if (!values.some((value) => typeof value !== 'string' && isSecret(value))) return scalarNode(whole, mark)
      const shown = values.map((value) => (typeof value === 'string' ? value : (shownOf(value) ?? this.#asText(value))))
      return secretNode(whole, shown.join(''), mark)
    } finally {
      this.#depth--
    }
  }

  #asText(node: Node): string {
    if (node.kind !== 'scalar') throw new TemplateError('a list or map cannot be part of a text')
    if (node.type === 'bool') return node.value ? 'True' : 'False'
    return node.type === 'null' ? 'None' : node.text
  }

  #code(code: string, path: readonly string[], mark: Mark): Node {
    const resolver = /^\s*([A-Za-z_][\w.]*)\s*:(.*)$/s.exec(code)
    if (resolver) return this.#call(resolver[1], splitArguments(resolver[2]), path, mark)
    const reference = this.#asText(this.#text(code, path, mark)).trim()
    return this.#lookup(reference, path, mark)
  }

  #call(name: string, args: string[], path: readonly string[], mark: Mark): Node {
    const value = (i: number): Node => {
      const quoted = unquote(args[i])
      return this.#text(quoted ?? args[i], path, mark)
    }
    if (name === 'oc.env') {
      if (args.length < 1 || args.length > 2) throw new TemplateError('oc.env takes a name and a default')
      const variable = this.#asText(value(0)).trim()
      const found = Object.hasOwn(this.#env, variable) ? this.#env[variable] : undefined
      const secret = isSecretVariable(variable)
      if (found !== undefined) return secret ? secretNode(found, HIDDEN, mark) : scalarNode(found, mark)
      if (args.length === 1) {
        throw new TemplateError(
          `environment variable ${variable} is not set\nset it, or write \${oc.env:${variable},default}`,
        )
      }
      if (/^null$/i.test(args[1])) return scalarNode(null, mark)
      return secret ? hidden(value(1)) : value(1)
    }
    if (name === 'oc.decode') {
      if (args.length < 1) throw new TemplateError('oc.decode takes a text')
      const node = args.length === 1 ? value(0) : scalarNode(args.join(','), mark)
      if (node.kind !== 'scalar' || node.type === 'null') return node
      const made = nodeOf(decode(this.#asText(node)), mark)
      return isSecret(node) ? hidden(made) : made
    }
    if (name === 'oc.select') {
      if (args.length < 1 || args.length > 2) throw new TemplateError('oc.select takes a key and a default')
      const key = this.#asText(value(0))
      const node = this.#find(this.#absolute(key, path))
      return node
        ? moved(node, mark)
        : args.length === 2
          ? nodeOf(decode(this.#asText(value(1))), mark)
          : scalarNode(null, mark)
    }
    if (name === 'config.dir') {
      if (args.length !== 1) throw new TemplateError('config.dir takes a path')
      const below = value(0)
      const path = besideFile(mark.file, this.#asText(below).trim())
      return isSecret(below) ? secretNode(path, besideFile(mark.file, HIDDEN), mark) : scalarNode(path, mark)
    }
    throw new TemplateError(`unknown resolver ${name}\nknown: ${RESOLVERS.join(', ')}`)
  }

  #lookup(reference: string, path: readonly string[], mark: Mark): Node {
    if (reference === '') throw new TemplateError("'${}' is empty")
    const target = this.#absolute(reference, path)
    const node = this.#find(target)
    if (!node) throw new TemplateError(`there is no key ${target.join('.')}${this.#suggestion(target)}`)
    if (node.kind === 'scalar' && node.failed) throw new TemplateError(`${target.join('.')} has no value`)
    return moved(node, mark)
  }

  /** `.x` is a sibling, `..x` a sibling of the parent, anything else starts at the top. */
  #absolute(reference: string, path: readonly string[]): string[] {
    const dots = /^\.*/.exec(reference)?.[0].length ?? 0
    const base = dots === 0 ? [] : path.slice(0, Math.max(0, path.length - dots))
    return [...base, ...pathParts(reference.slice(dots))]
  }

  #find(target: readonly string[]): Node | undefined {
    for (const tree of [this.#root, this.#written]) {
      let node: Node | undefined = tree
      for (let i = 0; i < target.length && node; i++) {
        if (node.kind === 'scalar') node = this.#resolve(node, target.slice(0, i), tree)
        node = child(node, target[i])
      }
      if (node) return this.#resolve(node, target, tree)
    }
    const initial = schemaDefault(target)
    return initial === undefined ? undefined : nodeOf(initial, this.#root.mark)
  }

  #suggestion(target: readonly string[]): string {
    const parent = target.slice(0, -1).reduce<Node | undefined>(child, this.#root)
    const near = parent?.kind === 'map' ? nearest(target.at(-1) ?? '', parent.entries.keys()) : undefined
    return near ? `\ndid you mean ${[...target.slice(0, -1), near].join('.')}?` : ''
  }
}

/** Beside a file of this folder it begins with `./`: the bare name could be the id of a repository. */
function besideFile(file: string, path: string): string {
  const joined = join(dirname(file), path)
  return dirname(file) === '.' && !joined.startsWith('.') ? `./${joined}` : joined
}

/** A text that came from a secret variable, wherever it is used from now on. */
function secretNode(text: string, shown: string, mark: Mark): ScalarNode {
  if (isHarmless(text)) return scalarNode(text, mark)
  rememberSecret(text, shown)
  return { ...scalarNode(text, mark), shown }
}

/** The same for all that was decoded from one. */
function hidden(node: Node): Node {
  if (node.kind === 'list') return { ...node, items: node.items.map(hidden) }
  if (node.kind === 'map') {
    return {
      ...node,
      entries: new Map([...node.entries].map(([key, one]) => [key, { ...one, node: hidden(one.node) }])),
    }
  }
  if (node.type === 'null' || node.type === 'bool' || isHarmless(node.text)) return node
  rememberSecret(node.text)
  return { ...node, shown: HIDDEN }
}

function isSecret(node: Node): boolean {
  return shownOf(node) !== undefined
}

function shownOf(node: Node): string | undefined {
  return node.kind === 'scalar' ? node.shown : undefined
}

/** A referred value stands where it is used. */
function moved(node: Node, mark: Mark): Node {
  return node.kind === 'scalar'
    ? { ...node, mark }
    : node.kind === 'list'
      ? { ...node, mark }
      : { ...node, mark, entries: node.entries }
}
