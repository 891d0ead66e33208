import type { Row } from '../contract.js'
import type { NativePack } from './addon.js'
import { Distinct } from './distinct.js'
import { PrefixTree, type Segment } from './prefix-tree.js'

/** Nothing is predicted from the last token of a row, so it is not computed. */
function computed({ tokens }: Row): Int32Array {
  return tokens.subarray(0, Math.max(1, tokens.length - 1))
}

/** Rows one after the other as the addon takes them. */
export function packed(rows: readonly Row[]): NativePack {
  const roots = rows.map((row) => ({ tokens: computed(row), children: new Map() }))
  return lay(rows, roots, roots)
}

/**
 * The same, with what several rows begin with computed once for all of them, and each score that they have in common
 * taken once. `others`: tokens whose log-probs are asked for, each list one for every scored token.
 */
export function packedShared(
  rows: readonly Row[],
  others: readonly Int32Array[] = [],
): { pack: NativePack; scores: Distinct } {
  const tree = new PrefixTree()
  const found = rows.map((row) => tree.add(computed(row)))
  const all = lay(rows, found, tree.roots)
  const scores = new Distinct({ ...all, others }, all.ids.length)
  const pack = {
    ...all,
    rows: scores.pick(all.rows),
    targets: scores.pick(all.targets),
    invT: scores.pick(all.invT),
    others: concatIds(others.map((ids) => scores.pick(ids))),
  }
  return { pack, scores }
}

/** Counts the tokens that a further row adds to a pack whose beginnings are shared. */
export function sharedCounter(): (row: Row) => number {
  const tree = new PrefixTree()
  return (row) => {
    const before = tree.size
    tree.add(computed(row))
    return tree.size - before
  }
}

/** `found`: the root of each row's tree. */
function lay(rows: readonly Row[], found: readonly Segment[], roots: readonly Segment[]): NativePack {
  const segments: Int32Array[] = []
  const prefix: number[] = []
  const places = new Map<Segment, number>()
  let tokens = 0
  const put = (segment: Segment, after: number): void => {
    const sequence = segments.push(segment.tokens) - 1
    prefix.push(after)
    places.set(segment, tokens)
    tokens += segment.tokens.length
    for (const child of segment.children.values()) put(child, sequence)
  }
  for (const root of roots) put(root, -1)

  const scored = rows.reduce((sum, row) => sum + row.tokens.length - row.start, 0)
  const at = new Int32Array(scored)
  const targets = new Int32Array(scored)
  const invT = new Float32Array(scored)
  let score = 0
  for (const [r, { tokens, start, temperature }] of rows.entries()) {
    let segment = found[r]
    let first = 0 // the place in the row of the segment's first token
    for (let i = start; i < tokens.length; i++, score++) {
      while (i - 1 >= first + segment.tokens.length) {
        first += segment.tokens.length
        segment = segment.children.get(tokens[first])!
      }
      at[score] = places.get(segment)! + i - 1 - first
      targets[score] = tokens[i]
      invT[score] = 1 / temperature
    }
  }
  const pack = {
    ids: concatIds(segments),
    lengths: Int32Array.from(segments, (part) => part.length),
    rows: at,
    targets,
    invT,
  }
  return prefix.some((one) => one >= 0) ? { ...pack, prefix: Int32Array.from(prefix) } : pack
}

/** The part of a concatenation that belongs to each row. */
export function split(rows: readonly Row[], all: Float32Array): Float32Array[] {
  let at = 0
  return rows.map((row) => {
    const part = all.slice(at, at + row.tokens.length - row.start)
    at += part.length
    return part
  })
}

export function concat(parts: readonly Float32Array[]): Float32Array {
  return joined(parts, new Float32Array(lengthOf(parts)))
}

export function concatIds(parts: readonly Int32Array[]): Int32Array {
  return joined(parts, new Int32Array(lengthOf(parts)))
}

function lengthOf(parts: readonly { length: number }[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0)
}

function joined<T extends Float32Array | Int32Array>(parts: readonly T[], all: T): T {
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
