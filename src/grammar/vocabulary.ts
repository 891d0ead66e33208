import { TrinityError } from '../base/error.js'
import type { Tokenizer } from '../model/index.js'
import { type ByteRanges, mergedRanges } from './regular/expression.js'

/** The tokens that a text can be made of, by their bytes: a tree in which tokens with a common beginning share it. */
export interface Vocabulary {
  /** Of each node, in the order of a walk that visits a node before what is below it; node 0 is the root. */
  readonly byte: Uint8Array
  readonly depth: Uint16Array
  /** The node behind all that is below. */
  readonly end: Int32Array
  /** Tokens of node i: `tokens[first[i]]` to before `tokens[first[i + 1]]`. */
  readonly first: Int32Array
  readonly tokens: Int32Array
  /** Bytes that stand in any token. */
  readonly alphabet: ByteRanges
  /** Bytes of the longest token. */
  readonly longest: number
  /** Characters that are dropped from the start of a text: up to `count` times `content`. */
  readonly strip?: { readonly content: number; readonly count: number }
  bytesOf(token: number): Uint8Array
}

const kept = new WeakMap<Tokenizer, Vocabulary>()

/** Special tokens are left out: they are no text. */
export function vocabularyOf(tokenizer: Tokenizer): Vocabulary {
  const known = kept.get(tokenizer)
  if (known) return known
  if (tokenizer.between !== '') {
    throw new TrinityError('grammar/tokenizer', 'tokens of this tokenizer are words, with a space between any two', {
      path: tokenizer.path,
      hint: 'constrained sampling needs a tokenizer whose tokens together are the text: byte-level, or SentencePiece',
    })
  }
  const made = buildVocabulary(tokenizer)
  kept.set(tokenizer, made)
  return made
}

function buildVocabulary(tokenizer: Tokenizer): Vocabulary {
  const entries: { token: number; bytes: Uint8Array; text: string }[] = []
  for (let token = 0; token < tokenizer.vocabSize; token++) {
    if (tokenizer.isSpecial(token)) continue
    const bytes = tokenizer.tokenBytes(token)
    // a character for each byte: texts are far faster to sort than arrays
    if (bytes.length > 0) entries.push({ token, bytes, text: String.fromCharCode(...bytes) })
  }
  entries.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0))
  const most = entries.reduce((sum, { bytes }) => sum + bytes.length, 1)
  const [byte, depth, end] = [new Uint8Array(most), new Uint16Array(most), new Int32Array(most)]
  const first = new Int32Array(most + 1)
  const path: number[] = [0]
  let nodes = 1
  let before: Uint8Array = new Uint8Array(0)
  for (const [place, { bytes }] of entries.entries()) {
    let shared = 0
    while (shared < before.length && before[shared] === bytes[shared]) shared++
    while (path.length > shared + 1) end[path.pop()!] = nodes
    for (let at = shared; at < bytes.length; at++) {
      byte[nodes] = bytes[at]
      depth[nodes] = at + 1
      first[nodes] = place
      path.push(nodes++)
    }
    before = bytes
  }
  for (const node of path) end[node] = nodes
  first[nodes] = entries.length
  return {
    byte: byte.slice(0, nodes),
    depth: depth.slice(0, nodes),
    end: end.slice(0, nodes),
    first: first.slice(0, nodes + 1),
    tokens: Int32Array.from(entries, ({ token }) => token),
    alphabet: mergedRanges([...new Set(byte.subarray(1, nodes))].map((one) => [one, one])),
    longest: entries.reduce((longest, { bytes }) => Math.max(longest, bytes.length), 0),
    strip: tokenizer.strip,
    bytesOf: (token) => (tokenizer.isSpecial(token) ? new Uint8Array(0) : tokenizer.tokenBytes(token)),
  }
}
