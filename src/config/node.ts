/** Where something stands in a file, counted from 1. */
export interface Mark {
  readonly file: string
  readonly line: number
  readonly column: number
}

export type ScalarType = 'int' | 'float' | 'bool' | 'null' | 'str'

/** A configuration as written: plain data in which every key and value knows its place. */
export type Node = ScalarNode | ListNode | MapNode

export interface ScalarNode {
  readonly kind: 'scalar'
  readonly type: ScalarType
  readonly value: string | number | boolean | null
  /** As written, without quotes. */
  readonly text: string
  readonly mark: Mark
  /** Already reported: stands for a value that could not be made. */
  readonly failed?: boolean
  /** Holds a secret of the environment: the text as it may be shown. */
  readonly shown?: string
  /** The text with `${...}` that the value was made from. */
  readonly written?: string
}
export interface ListNode {
  readonly kind: 'list'
  readonly items: readonly Node[]
  readonly mark: Mark
}
export interface MapNode {
  readonly kind: 'map'
  readonly entries: ReadonlyMap<string, Entry>
  readonly mark: Mark
}
export interface Entry {
  /** Of the key. */
  readonly mark: Mark
  readonly node: Node
}

export function markText(mark: Mark): string {
  return `${mark.file}:${mark.line}:${mark.column}`
}

export function scalarNode(value: ScalarNode['value'], mark: Mark): ScalarNode {
  const type: ScalarType =
    value === null
      ? 'null'
      : typeof value === 'boolean'
        ? 'bool'
        : typeof value === 'string'
          ? 'str'
          : Number.isInteger(value)
            ? 'int'
            : 'float'
  return { kind: 'scalar', type, value, text: value === null ? 'null' : String(value), mark }
}

export function mapNode(entries: Iterable<readonly [string, Entry]>, mark: Mark): MapNode {
  return { kind: 'map', entries: new Map(entries), mark }
}

/** Turns plain data into nodes that all stand at `mark`. */
export function nodeOf(value: unknown, mark: Mark): Node {
  if (Array.isArray(value)) return { kind: 'list', items: value.map((item) => nodeOf(item, mark)), mark }
  if (value !== null && typeof value === 'object') {
    return mapNode(
      Object.entries(value).map(([key, item]) => [key, { mark, node: nodeOf(item, mark) }] as const),
      mark,
    )
  }
  return scalarNode(value as ScalarNode['value'], mark)
}

export function plain(node: Node): unknown {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'list') return node.items.map(plain)
  // fromEntries defines own properties, so that a key named __proto__ stays an ordinary key
  return Object.fromEntries([...node.entries].map(([key, entry]) => [key, plain(entry.node)]))
}

export function child(node: Node | undefined, key: string): Node | undefined {
  if (node?.kind === 'map') return node.entries.get(key)?.node
  if (node?.kind === 'list' && /^\d+$/.test(key)) return node.items[Number(key)]
  return undefined
}

/** The node at a dotted path, `a.b[2].c` or `a.b.2.c`. */
export function at(node: Node | undefined, path: string): Node | undefined {
  return pathParts(path).reduce<Node | undefined>(child, node)
}

/** The place of a key, or of the nearest section around it. */
export function markOf(tree: MapNode, key: string): Mark {
  const parts = pathParts(key)
  for (let n = parts.length; n > 0; n--) {
    const node = at(tree, parts.slice(0, n).join('.'))
    if (node) return node.mark
  }
  return tree.mark
}

export function pathParts(path: string): string[] {
  return path.split(/[.[\]]+/).filter((part) => part !== '')
}

/** A copy with `node` at the path; missing maps on the way are made. */
export function withNode(root: Node | undefined, parts: readonly string[], node: Node): Node {
  const [key, ...rest] = parts
  if (key === undefined) return node
  if (root?.kind === 'list' && /^\d+$/.test(key) && Number(key) < root.items.length) {
    return { ...root, items: root.items.map((item, i) => (i === Number(key) ? withNode(item, rest, node) : item)) }
  }
  const map = root?.kind === 'map' ? root : mapNode([], node.mark)
  const entry = map.entries.get(key)
  const entries = new Map(map.entries)
  entries.set(key, { mark: entry?.mark ?? node.mark, node: withNode(entry?.node, rest, node) })
  return { ...map, entries }
}

export function without(map: MapNode, keys: Iterable<string>): MapNode {
  const entries = new Map(map.entries)
  for (const key of keys) entries.delete(key)
  return { ...map, entries }
}

/** A copy without the node at the path, and without the maps that are empty then. */
export function removeAt(root: MapNode, parts: readonly string[]): MapNode {
  const [key, ...rest] = parts
  const entry = root.entries.get(key)
  if (rest.length === 0) return entry ? without(root, [key]) : root
  if (entry?.node.kind !== 'map') return root
  const node = removeAt(entry.node, rest)
  if (node === entry.node) return root
  if (node.entries.size === 0) return without(root, [key])
  return { ...root, entries: new Map(root.entries).set(key, { ...entry, node }) }
}
