import type { Row } from '../contract.js'
import type { NativePack } from './addon.js'

/** Nothing is predicted from the last token of a row, so it is not computed. */
function computed({ tokens }: Row): number {
  return Math.max(1, tokens.length - 1)
}

/** Rows one after the other as the addon takes them. */
export function packed(rows: readonly Row[]): NativePack {
  return lay(
    rows,
    rows.map(() => undefined),
  )
}

/** The same, with a prompt that several rows begin with computed once for all of them. */
export function packedShared(rows: readonly Row[]): NativePack {
  const prompts = new Prompts()
  const found = rows.map((row) => prompts.add(row))
  return lay(
    rows,
    found.map((prompt) => (prompt.rows > 1 ? prompt : undefined)),
  )
}

/** Counts the tokens that a further row adds to a pack whose prompts are shared. */
export function sharedCounter(): (row: Row) => number {
  const prompts = new Prompts()
  return (row) => computed(row) - (prompts.add(row).rows > 1 ? row.start : 0)
}

interface Prompt {
  /** The first row that begins with it. */
  readonly row: Row
  rows: number
  /** Its place among the sequences, and its first token in the pack. */
  sequence: number
  at: number
}

/** What comes before the scored tokens of rows, each once. */
class Prompts {
  readonly #byHash = new Map<number, Prompt[]>()

  /** The prompt of the row, counted once more. */
  add(row: Row): Prompt {
    const hash = hashOf(row)
    const list = this.#byHash.get(hash) ?? []
    this.#byHash.set(hash, list)
    let prompt = list.find((one) => samePrompt(one.row, row))
    if (!prompt) {
      prompt = { row, rows: 0, sequence: -1, at: -1 }
      list.push(prompt)
    }
    prompt.rows++
    return prompt
  }
}

function hashOf({ tokens, start }: Row): number {
  let hash = start
  for (let i = 0; i < start; i++) hash = (Math.imul(hash, 31) + tokens[i]) | 0
  return hash
}

function samePrompt(a: Row, b: Row): boolean {
  if (a.start !== b.start) return false
  for (let i = 0; i < a.start; i++) if (a.tokens[i] !== b.tokens[i]) return false
  return true
}

function lay(rows: readonly Row[], prompts: readonly (Prompt | undefined)[]): NativePack {
  const ids: Int32Array[] = []
  const prefix: number[] = []
  let tokens = 0
  const put = (part: Int32Array, after: number): number => {
    if (part.length > 0) prefix.push(after)
    if (part.length > 0) ids.push(part)
    tokens += part.length
    return tokens - part.length
  }
  const scored = rows.reduce((sum, row) => sum + row.tokens.length - row.start, 0)
  const at = new Int32Array(scored)
  const targets = new Int32Array(scored)
  const invT = new Float32Array(scored)
  let score = 0
  for (const [r, row] of rows.entries()) {
    const { start, temperature } = row
    const prompt = prompts[r]
    if (prompt && prompt.at < 0) {
      prompt.at = put(row.tokens.subarray(0, start), -1)
      prompt.sequence = ids.length - 1
    }
    const own = row.tokens.subarray(prompt ? start : 0, computed(row))
    // Where token 0 of the row would stand if its prompt stood right before it.
    const origin = put(own, prompt ? prompt.sequence : -1) - (prompt ? start : 0)
    for (let i = start; i < row.tokens.length; i++, score++) {
      at[score] = prompt && i === start ? prompt.at + start - 1 : origin + i - 1
      targets[score] = row.tokens[i]
      invT[score] = 1 / temperature
    }
  }
  const pack = {
    ids: new Int32Array(tokens),
    lengths: Int32Array.from(ids, (part) => part.length),
    rows: at,
    targets,
    invT,
  }
  let place = 0
  for (const part of ids) {
    pack.ids.set(part, place)
    place += part.length
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
