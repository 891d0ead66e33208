import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  visit,
  type YAMLError,
  type Node as YamlNode,
} from 'yaml'
import { messageOf, TrinityError } from '../base/error.js'
import { type Entry, type MapNode, type Mark, mapNode, type Node, type ScalarNode } from './node.js'
import { Problems } from './problem.js'
import { plainScalar } from './scalar.js'

/** More than any configuration has: stops anchors that multiply themselves before they cost seconds. */
const MAX_NODES = 100_000
const MAX_ALIASES = 1000
const MAX_DEPTH = 200
const MAX_SYNTAX = 20

/**
 * Reads the text of a configuration file. Every problem of the text is reported at once; those that leave something
 * to go on with (a key given twice) are added to `problems`, where there is one, so that the rest is checked as well.
 */
export function parseYaml(text: string, file: string, problems?: Problems): MapNode {
  const reader = new Reader(file, problems)
  const lines = new LineCounter()
  let documents: Document.Parsed[]
  try {
    const parsed = parseAllDocuments(text.replace(/^\uFEFF/, ''), {
      version: '1.1',
      schema: 'failsafe',
      merge: false,
      uniqueKeys: false,
      prettyErrors: false,
      lineCounter: lines,
    })
    documents = Array.isArray(parsed) ? (parsed as Document.Parsed[]) : []
  } catch (error) {
    throw new TrinityError('config/yaml', `cannot be read as YAML: ${messageOf(error)}`, { path: file, cause: error })
  }
  return reader.read(documents, lines)
}

/** Reads one value in YAML's flow notation, as in `--set key=value`. */
export function parseValue(text: string, source: string): Node {
  const marked = parseYaml(`value: ${text.includes('\n') ? JSON.stringify(text) : text}`, source)
  return (marked.entries.get('value') as Entry).node
}

class Reader {
  readonly #file: string
  readonly #problems = new Problems()
  readonly #minor: Problems
  #lines = new LineCounter()
  #count = 0
  #aliases = 0
  #targets: ReadonlyMap<Alias, YamlNode> | undefined
  #isTooLarge = false

  constructor(file: string, minor?: Problems) {
    this.#file = file
    this.#minor = minor ?? this.#problems
  }

  read(documents: Document.Parsed[], lines: LineCounter): MapNode {
    this.#lines = lines
    const start = this.#mark(0)
    // after a slip the rest of the line, and often of the file, makes no sense to the parser: only the first tells
    const reported = new Set<number>()
    for (const error of documents.flatMap((document) => document.errors).slice(0, MAX_SYNTAX)) {
      const mark = this.#mark(error.pos[0])
      if (!reported.has(mark.line)) this.#problems.error('yaml', '', wordsOf(error), mark, fixOf(error))
      reported.add(mark.line)
    }
    const [first, second] = documents
    if (second) {
      const at = second.range?.[0] ?? 0
      this.#problems.error(
        'yaml',
        '',
        'a second document begins here',
        this.#mark(at),
        'put one configuration in each file',
      )
    }
    this.#problems.throwIfErrors(this.#file)
    const contents = first?.contents
    if (!contents || (isScalar(contents) && contents.source === '' && contents.type === 'PLAIN')) {
      this.#problems.error(
        'empty',
        '',
        'the file is empty',
        start,
        'a configuration is a map of keys, see docs/configuration.md',
      )
    } else {
      const node = this.#node(contents, first, [], 0)
      if (node?.kind === 'map') {
        this.#problems.throwIfErrors(this.#file)
        return node
      }
      const found = node?.kind === 'list' ? 'a list' : 'a single value'
      if (this.#problems.errors.length === 0) {
        this.#problems.error('type', '', `expected a map of keys at the top level, found ${found}`, start)
      }
    }
    this.#problems.throwIfErrors(this.#file)
    throw new TrinityError('config/yaml', 'no configuration', { path: this.#file })
  }

  #mark(offset: number): Mark {
    const { line, col } = this.#lines.linePos(offset)
    return { file: this.#file, line: Math.max(1, line), column: Math.max(1, col) }
  }

  #node(value: unknown, document: Document.Parsed, open: unknown[], depth: number): Node | undefined {
    if (this.#isTooLarge) return undefined
    const range = (value as { range?: [number, number, number] | null } | null)?.range
    const mark = this.#mark(range?.[0] ?? 0)
    if (isAlias(value)) this.#aliases++
    if (++this.#count > MAX_NODES || this.#aliases > MAX_ALIASES || depth > MAX_DEPTH) {
      this.#problems.error('yaml', '', TOO_LARGE, mark, SMALLER)
      this.#isTooLarge = true
      return undefined
    }
    if (isAlias(value)) {
      this.#targets ??= targetsOf(document)
      const target = this.#targets.get(value)
      if (!target) {
        this.#problems.error('yaml', '', `no anchor &${value.source} before this *${value.source}`, mark)
        return undefined
      }
      if (open.includes(target)) {
        this.#problems.error('yaml', '', `anchor &${value.source} contains itself`, mark)
        return undefined
      }
      return this.#node(target, document, open, depth + 1)
    }
    const inner = [...open, value]
    if (isSeq(value)) {
      this.#tag(value.tag, ['tag:yaml.org,2002:seq'], mark)
      const items = value.items.map((item) => this.#node(item, document, inner, depth + 1))
      return { kind: 'list', items: items.filter((item) => item !== undefined), mark }
    }
    if (isMap(value)) {
      this.#tag(value.tag, ['tag:yaml.org,2002:map'], mark)
      return this.#map(value.items, document, inner, depth, mark)
    }
    if (isScalar(value)) return this.#scalar(value, mark)
    return { kind: 'scalar', type: 'null', value: null, text: '', mark }
  }

  #map(
    pairs: { key: unknown; value: unknown }[],
    document: Document.Parsed,
    open: unknown[],
    depth: number,
    mark: Mark,
  ) {
    const entries = new Map<string, Entry>()
    const merged: MapNode[] = []
    for (const pair of pairs) {
      const keyMark = this.#mark((pair.key as { range?: number[] } | null)?.range?.[0] ?? 0)
      const isKey = isScalar(pair.key) || isAlias(pair.key)
      const key = isKey ? this.#node(pair.key, document, open, depth + 1) : undefined
      if (this.#isTooLarge) break
      if (key?.kind !== 'scalar' || key.value === null) {
        this.#problems.error('yaml', '', 'a key must be a word', keyMark)
        continue
      }
      const node = this.#node(pair.value, document, open, depth + 1)
      if (!node) continue
      if (key.text === '<<' && isScalar(pair.key) && pair.key.type === 'PLAIN') {
        merged.push(...this.#mergeSources(node))
        continue
      }
      const name = String(key.type === 'str' ? key.value : key.text)
      const before = entries.get(name)
      if (before) {
        const text = `given twice, first at line ${before.mark.line}`
        this.#minor.error('duplicate-key', name, text, keyMark, 'remove one of the two')
      } else entries.set(name, { mark: keyMark, node: pair.value === null ? { ...node, mark: keyMark } : node })
    }
    for (const source of merged)
      for (const [key, entry] of source.entries) if (!entries.has(key)) entries.set(key, entry)
    return mapNode(entries, mark)
  }

  #mergeSources(node: Node): MapNode[] {
    const sources = node.kind === 'list' ? node.items : [node]
    for (const source of sources) {
      if (source.kind !== 'map') {
        this.#problems.error('yaml', '<<', 'only a map, or a list of maps, can be merged', source.mark)
      }
    }
    return sources.filter((source) => source.kind === 'map')
  }

  #tag(tag: string | undefined, known: readonly string[], mark: Mark): void {
    if (tag !== undefined && tag !== '!' && !known.includes(tag)) {
      this.#problems.error('yaml', '', `unknown tag ${tag.replace('tag:yaml.org,2002:', '!!')}`, mark)
    }
  }

  #scalar(scalar: { value: unknown; source?: string; type?: string | null; tag?: string }, mark: Mark): ScalarNode {
    const text = String(scalar.value ?? '')
    const tag = scalar.tag?.replace('tag:yaml.org,2002:', '')
    const bare = scalar.type === 'PLAIN' && (tag === undefined || tag === '')
    if (bare || (tag !== undefined && TYPED.includes(tag))) {
      const read = plainScalar(text)
      if (!bare && read.type !== tag && !(tag === 'float' && read.type === 'int')) {
        this.#problems.error('yaml', '', `'${text}' is not what its tag !!${tag} says`, mark)
      }
      return { kind: 'scalar', ...read, text, mark }
    }
    this.#tag(scalar.tag, ['tag:yaml.org,2002:str'], mark)
    return { kind: 'scalar', type: 'str', value: text, text, mark }
  }
}

/** What each alias stands for: the latest anchor of its name before it. One walk for all of them. */
function targetsOf(document: Document.Parsed): Map<Alias, YamlNode> {
  const anchors = new Map<string, YamlNode>()
  const targets = new Map<Alias, YamlNode>()
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) {
        const target = anchors.get(node.source)
        if (target) targets.set(node, target)
      } else if (node.anchor !== undefined) anchors.set(node.anchor, node)
    },
  })
  return targets
}

const TYPED = ['int', 'float', 'bool', 'null']

const TOO_LARGE = 'too large: anchors multiply, or it is nested too deeply'
const SMALLER = `a file may have ${MAX_NODES} values, ${MAX_DEPTH} levels deep, and use anchors ${MAX_ALIASES} times`

function wordsOf({ message }: YAMLError): string {
  return isTooDeep(message) ? TOO_LARGE : message.charAt(0).toLowerCase() + message.slice(1)
}

/** The parser itself gives up on some thousand levels. */
function isTooDeep(message: string): boolean {
  return /call stack/i.test(message)
}

function fixOf(error: YAMLError): string | undefined {
  if (isTooDeep(error.message)) return SMALLER
  if (error.code === 'TAB_AS_INDENT') return 'indent with spaces'
  if (error.code === 'BLOCK_AS_IMPLICIT_KEY' || error.code === 'MULTILINE_IMPLICIT_KEY') {
    return "is a ': ' inside a value? put the value in quotes"
  }
  if (error.code === 'BAD_INDENT') return 'keys of one level start in the same column'
  return undefined
}
