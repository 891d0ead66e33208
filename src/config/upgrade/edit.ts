import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  Pair,
  parseDocument,
  Scalar,
  visit,
  YAMLMap,
  YAMLSeq,
} from 'yaml'
import { lineDiff } from '../../base/line-diff.js'
import { type MapNode, type Mark, type Node, plain } from '../node.js'
import { plainScalar } from '../scalar.js'

type Value = Scalar | YAMLMap | YAMLSeq
type Entry = Pair<unknown, unknown>

/** Cannot be said in the text as it is written: an anchor, or a key that comes from elsewhere. */
export class Unwritable extends Error {}

/**
 * A text that says `after` where it said `before`. What stays has its order, its comments and its layout; what moves takes its
 * comments along.
 */
export function edited(text: string, before: MapNode, after: MapNode): string {
  const lines = new LineCounter()
  // as the reader of configurations has it: every scalar is text and stays as it is written
  const options = { version: '1.1', schema: 'failsafe', merge: false, uniqueKeys: false, lineCounter: lines } as const
  const document = parseDocument(text, options)
  const layout = { lineWidth: 0, flowCollectionPadding: true, nullStr: '' }
  const plainBefore = document.toString(layout)
  const editor = new Editor(document, lines)
  editor.map(document.contents as YAMLMap, before, after)
  return withLayout(text, plainBefore, document.toString(layout))
}

class Editor {
  /** Entries by the place of their values. */
  readonly #entries = new Map<string, Entry>()

  constructor(document: Document.Parsed, lines: LineCounter) {
    visit(document, {
      // the printer's parser gives the comment of the first key to its map
      Map: (at, map) => {
        const first = map.items[0]?.key
        if (at === null || map.flow || !isScalar(first) || !map.commentBefore) return
        first.commentBefore = [map.commentBefore, first.commentBefore].filter(Boolean).join('\n')
        map.commentBefore = undefined
      },
      Pair: (_, pair) => {
        const node = (pair.value ?? pair.key) as { range?: [number, number, number] | null } | null
        if (!node?.range) return
        const { line, col } = lines.linePos(node.range[0])
        this.#entries.set(`${line}:${col}`, pair)
      },
    })
  }

  map(target: YAMLMap, before: MapNode | undefined, after: MapNode): void {
    const gone = [...(before?.entries.keys() ?? [])].filter((key) => !after.entries.has(key))
    for (const [key, { node }] of after.entries) {
      const old = before?.entries.get(key)?.node
      if (!old) this.#add(target, key, node, gone)
      else this.#change(target, key, old, node)
    }
    for (const key of gone) {
      const at = target.items.findIndex((pair) => keyOf(pair) === key)
      if (at >= 0) target.items.splice(at, 1)
    }
  }

  /** A key that was not there: it has moved here, or is made. */
  #add(target: YAMLMap, key: string, node: Node, gone: readonly string[]): void {
    const from = this.#entries.get(placeOf(node.mark))
    const pair = new Pair<unknown, unknown>(new Scalar(key), this.#yamlOf(node, from))
    const isMoved = from !== undefined && (pair.value === from.value || node.kind === 'scalar')
    if (isMoved) copyComments(from, pair)
    // a key with another name stays where it is
    const at = target.items.findIndex((one) => one === from && gone.includes(keyOf(one)))
    if (at >= 0 && isMoved) target.items.splice(at, 1, pair as YAMLMap['items'][number])
    else target.items.push(pair as YAMLMap['items'][number])
  }

  #yamlOf(node: Node, from: Entry | undefined): unknown {
    if (from && sameValue(from.value, node)) return from.value
    if (node.kind !== 'map') return yamlOf(node)
    const map = new YAMLMap()
    this.map(map, undefined, node)
    return map
  }

  #change(target: YAMLMap, key: string, before: Node, after: Node): void {
    if (JSON.stringify(plain(before)) === JSON.stringify(plain(after))) return
    const pair = target.items.find((one) => keyOf(one) === key)
    if (!pair) throw new Unwritable(key)
    const { value } = pair as Entry
    if (before.kind === 'map' && after.kind === 'map' && isMap(value)) {
      this.map(value, before, after)
      // everything in it has moved
      if (value.items.length === 0) target.items.splice(target.items.indexOf(pair), 1)
      return
    }
    if (before.kind === 'list' && after.kind === 'list' && isSeq(value) && value.items.length === after.items.length) {
      for (const [i, item] of after.items.entries()) {
        const [old, own] = [before.items[i], value.items[i]]
        if (JSON.stringify(plain(old)) === JSON.stringify(plain(item))) continue
        if (old.kind === 'map' && item.kind === 'map' && isMap(own)) this.map(own, old, item)
        else value.items[i] = yamlOf(item)
      }
      return
    }
    const made = yamlOf(after)
    if (isScalar(value) && isScalar(made)) made.comment = value.comment
    ;(pair as Entry).value = made
  }
}

function keyOf(pair: Entry): string {
  return isScalar(pair.key) ? String(pair.key.value) : ''
}

function placeOf({ line, column }: Mark): string {
  return `${line}:${column}`
}

/** Whether what is written there says the same; anchors are left where they are. */
function sameValue(value: unknown, node: Node): boolean {
  if (isScalar(value)) return node.kind === 'scalar' && String(value.value ?? '') === node.text
  if (isMap(value)) {
    if (node.kind !== 'map' || value.items.length !== node.entries.size) return false
    return value.items.every((pair) => {
      const entry = node.entries.get(keyOf(pair as Entry))
      return entry !== undefined && sameValue(pair.value, entry.node)
    })
  }
  if (isSeq(value)) {
    if (node.kind !== 'list' || value.items.length !== node.items.length) return false
    return value.items.every((item, i) => sameValue(item, node.items[i]))
  }
  return value === null && node.kind === 'scalar' && node.type === 'null'
}

function yamlOf(node: Node): Value {
  if (node.kind === 'list') {
    const list = new YAMLSeq()
    list.items = node.items.map(yamlOf)
    return list
  }
  if (node.kind === 'map') {
    const map = new YAMLMap()
    for (const [key, entry] of node.entries) map.items.push(new Pair(new Scalar(key), yamlOf(entry.node)) as never)
    return map
  }
  const scalar = new Scalar(node.text)
  if (node.type === 'str' && plainScalar(node.text).type !== 'str') scalar.type = 'QUOTE_DOUBLE'
  return scalar
}

function copyComments(from: Entry, to: Entry): void {
  if (isScalar(from.key) && isScalar(to.key)) {
    to.key.commentBefore = from.key.commentBefore
    to.key.spaceBefore = from.key.spaceBefore
  }
  if (isScalar(from.value) && isScalar(to.value)) to.value.comment = from.value.comment
}

const squeezed = (line: string) => line.replaceAll(/\s+/g, '')

/** The new text with every line that has stayed as it was written, not as the printer would have it. */
function withLayout(text: string, printedBefore: string, printedAfter: string): string {
  const [written, before, after] = [text, printedBefore, printedAfter].map((one) => one.split('\n'))
  // where each printed line stands in the text, and which empty lines the printer left out before it
  const origin = new Map<number, number>()
  for (const line of lineDiff(written, before, squeezed)) if (line.kind === 'same') origin.set(line.after, line.before)
  const lines: string[] = []
  let last = -1
  for (const line of lineDiff(before, after)) {
    if (line.kind === 'gone') {
      last = origin.get(line.before) ?? last
      continue
    }
    const from = line.kind === 'same' ? origin.get(line.before) : undefined
    if (from === undefined) lines.push(line.text)
    else {
      if (line.text.trim() !== '') {
        for (let at = last + 1; at < from; at++) if (written[at].trim() === '') lines.push(written[at])
      }
      lines.push(written[from])
      last = from
    }
  }
  return lines.join('\n')
}
