import { Document, isMap, isPair, isScalar, isSeq, type Node, type Pair, parseDocument, type YAMLMap } from 'yaml'

/** Where a value stands: `['buffer', 'explorer_input', 'tasksets', 0, 'path']`. */
export type Path = readonly (string | number)[]

/** What a text holds. Single values are as they are written: the server knows what they mean. */
export type Tree = string | null | readonly Tree[] | { readonly [key: string]: Tree }

/** A value to write: text as it is typed, or a whole structure. */
export type Value = string | null | readonly Value[] | { readonly [key: string]: Value }

const OPTIONS = { version: '1.1', schema: 'failsafe', merge: false, uniqueKeys: false, prettyErrors: false } as const
const LAYOUT = { lineWidth: 0, flowCollectionPadding: false } as const

export const keyOf = (path: Path) =>
  path.reduce<string>((key, part) => (typeof part === 'number' ? `${key}[${part}]` : key ? `${key}.${part}` : part), '')

/** The values of a text; undefined: it is no YAML, or no map, or one whose anchors multiply. */
export function treeOf(text: string): { readonly [key: string]: Tree } | undefined {
  const document = read(text)
  if (document.errors.length > 0) return undefined
  let tree: Tree
  try {
    tree = document.toJS() as Tree
  } catch {
    return undefined
  }
  if (tree === null || tree === '') return {}
  return typeof tree === 'object' && !Array.isArray(tree) ? (tree as { [key: string]: Tree }) : undefined
}

export function at(tree: Tree | undefined, path: Path): Tree | undefined {
  return path.reduce<Tree | undefined>((value, key) => {
    if (typeof value !== 'object' || value === null) return undefined
    return Object.hasOwn(value, key) ? (value as { [key: string]: Tree })[key] : undefined
  }, tree)
}

/**
 * The text with another value at a path. Everything else stays as it is, letter by letter, wherever the value can be put into
 * its line or onto a line of its own; else the document is written anew, with its comments.
 */
export function withValue(text: string, path: Path, value: Value): string {
  const document = read(text)
  if (document.errors.length > 0) return text
  const spliced = splice(text, document, path, value)
  if (spliced !== undefined && isSame(spliced, text, path, value)) return spliced
  for (let n = 1; n < path.length; n++) {
    const parent = document.getIn(path.slice(0, n), true)
    // what was empty is filled: on lines of its own
    if ((isMap(parent) || isSeq(parent)) && parent.items.length === 0) parent.flow = false
    if (isScalar(parent)) document.setIn(path.slice(0, n), document.createNode(typeof path[n] === 'number' ? [] : {}))
  }
  document.setIn(path, nodeOf(document, value))
  return document.toString(LAYOUT)
}

/** The text without a value, and without the sections that are empty then. */
export function without(text: string, path: Path): string {
  const document = read(text)
  if (document.errors.length > 0 || !document.hasIn(path)) return text
  let whole = path
  while (whole.length > 1) {
    const parent = document.getIn(whole.slice(0, -1), true)
    if (!(isMap(parent) || isSeq(parent)) || parent.items.length > 1) break
    whole = whole.slice(0, -1)
  }
  const cut = cutOut(text, document, whole)
  if (cut !== undefined && isSame(cut, text, whole, undefined)) return cut
  document.deleteIn(whole)
  return document.toString(LAYOUT)
}

function read(text: string): Document.Parsed {
  return parseDocument(text, OPTIONS) as Document.Parsed
}

/** The change did what it should, and nothing else. */
function isSame(next: string, before: string, path: Path, value: Value | undefined): boolean {
  const [made, wanted] = [read(next), read(before)]
  if (made.errors.length > 0) return false
  if (value === undefined) wanted.deleteIn(path)
  else {
    for (let n = 1; n < path.length; n++) {
      if (isScalar(wanted.getIn(path.slice(0, n), true))) wanted.deleteIn(path.slice(0, n))
    }
    wanted.setIn(path, nodeOf(wanted, value))
  }
  return JSON.stringify(made.toJS()) === JSON.stringify(read(wanted.toString(LAYOUT)).toJS())
}

function splice(text: string, document: Document.Parsed, path: Path, value: Value): string | undefined {
  const old = document.getIn(path, true)
  if (isScalar(old) && (value === null || typeof value === 'string')) {
    const [from, to] = old.range ?? [0, 0]
    // a value over several lines is written anew; one that is missing has no place yet
    if (from === to || text.slice(from, to).includes('\n')) return undefined
    return text.slice(0, from) + scalarText(value) + text.slice(to)
  }
  if (old !== undefined) return undefined
  for (let n = path.length - 1; n >= 0; n--) {
    const parent = n === 0 ? document.contents : document.getIn(path.slice(0, n), true)
    if (parent === undefined) continue
    if (!isMap(parent) || parent.flow || parent.items.length === 0) return undefined
    return insert(text, parent, path.slice(n), value)
  }
  return undefined
}

function insert(text: string, map: YAMLMap, path: Path, value: Value): string | undefined {
  const first = (map.items[0].key as Node).range?.[0] ?? 0
  const column = first - (text.lastIndexOf('\n', first - 1) + 1)
  const end = lineEnd(text, endOf(map))
  const nested = path.reduceRight<Value>((inner, key) => ({ [key]: inner }), value)
  const block = new Document(null, OPTIONS)
  block.contents = nodeOf(block, nested) as never
  const lines = block.toString(LAYOUT).trimEnd().split('\n')
  const added = lines.map((line) => `${' '.repeat(column)}${line}`).join('\n')
  const head = text.slice(0, end)
  return `${head}${head.endsWith('\n') || head === '' ? '' : '\n'}${added}\n${text.slice(end)}`
}

/** Only whole lines. */
function cutOut(text: string, document: Document.Parsed, path: Path): string | undefined {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  if (!isMap(parent) || parent.flow) return undefined
  const pair = parent.items.find((one) => String(one.key) === String(path.at(-1)))
  if (!isPair(pair)) return undefined
  const from = (pair.key as Node).range?.[0] ?? 0
  const line = text.lastIndexOf('\n', from - 1) + 1
  if (text.slice(line, from).trim() !== '') return undefined
  return text.slice(0, line) + text.slice(lineEnd(text, endOf(pair)))
}

/** Behind the last letter of a value. */
function endOf(node: unknown): number {
  if (isPair(node)) {
    const { key, value } = node as Pair<Node, Node | null>
    return Math.max(key.range?.[1] ?? 0, value === null ? 0 : endOf(value))
  }
  if ((isMap(node) || isSeq(node)) && !node.flow && node.items.length > 0) return endOf(node.items.at(-1))
  return (node as Node).range?.[1] ?? 0
}

/** The beginning of the next line. */
function lineEnd(text: string, from: number): number {
  if (from > 0 && text[from - 1] === '\n') return from
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end + 1
}

function nodeOf(document: Document, value: Value): Node {
  if (value === null || typeof value === 'string') {
    const made = parseDocument(`k: ${scalarText(value)}`, OPTIONS).get('k', true)
    return made as unknown as Node
  }
  const node = document.createNode(Array.isArray(value) ? [] : {}) as YAMLMap
  if (Array.isArray(value))
    for (const one of value) (node as never as { items: Node[] }).items.push(nodeOf(document, one))
  else for (const [key, one] of Object.entries(value)) node.set(key, nodeOf(document, one as Value))
  return node as unknown as Node
}

/** A text as it can stand behind a colon: as it is, where that says the same. */
function scalarText(value: string | null): string {
  if (value === null) return 'null'
  const plain = parseDocument(`k: ${value}`, OPTIONS)
  const read = plain.get('k', true)
  const isPlain = plain.errors.length === 0 && isScalar(read) && read.type === 'PLAIN' && read.value === value
  return isPlain && value !== '' && !/[#\n]|: /.test(value) ? value : JSON.stringify(value)
}
