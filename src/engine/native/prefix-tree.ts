/**
 * A row joins a tree where this saves at least this part of it: the attention of a whole tree goes back through one task
 * of each head, so a few tokens that all rows begin with must not tie them together.
 */
const WORTH = 1 / 16

/** Tokens that follow each other without a branch. */
export interface Segment {
  tokens: Int32Array
  /** By the first token of each. */
  children: Map<number, Segment>
}

/** Token sequences as trees: what several of them begin with stands there once, at any depth. */
export class PrefixTree {
  readonly roots: Segment[] = []
  readonly #byToken = new Map<number, Segment[]>()
  #size = 0

  /** Tokens in all segments. */
  get size(): number {
    return this.#size
  }

  /** Adds a sequence, and gives the root of the tree that it is in now. */
  add(tokens: Int32Array): Segment {
    const alike = this.#byToken.get(tokens[0]) ?? []
    let root: Segment | undefined
    let most = 0
    for (const one of alike) {
      const shared = depth(one, tokens)
      if (shared > most) [root, most] = [one, shared]
    }
    if (root && most >= tokens.length * WORTH) {
      grow(root, tokens)
      this.#size += tokens.length - most
      return root
    }
    const own = { tokens, children: new Map() }
    this.#byToken.set(tokens[0], [...alike, own])
    this.roots.push(own)
    this.#size += tokens.length
    return own
  }
}

/** How far the tree goes along with the tokens. */
function depth(root: Segment, tokens: Int32Array): number {
  let at = 0
  for (let segment: Segment | undefined = root; segment; segment = segment.children.get(tokens[at])) {
    const same = alike(segment.tokens, tokens, at)
    at += same
    if (same < segment.tokens.length) break
  }
  return at
}

function grow(root: Segment, tokens: Int32Array): void {
  let at = 0
  for (let segment = root; ; ) {
    const same = alike(segment.tokens, tokens, at)
    at += same
    if (at === tokens.length) return
    if (same < segment.tokens.length) cut(segment, same)
    else if (segment.children.size === 0) {
      // Nothing branches here: a sequence that goes on where another one ended needs no segment of its own.
      segment.tokens = tokens.subarray(at - same)
      return
    }
    const next = segment.children.get(tokens[at])
    if (!next) {
      segment.children.set(tokens[at], { tokens: tokens.subarray(at), children: new Map() })
      return
    }
    segment = next
  }
}

/** Makes what comes after the first tokens of a segment its child. */
function cut(segment: Segment, length: number): void {
  const rest = { tokens: segment.tokens.subarray(length), children: segment.children }
  segment.tokens = segment.tokens.subarray(0, length)
  segment.children = new Map([[rest.tokens[0], rest]])
}

/** How many tokens of the segment are those from `at` on. */
function alike(segment: Int32Array, tokens: Int32Array, at: number): number {
  const most = Math.min(segment.length, tokens.length - at)
  let same = 0
  while (same < most && segment[same] === tokens[at + same]) same++
  return same
}
