import type { Row } from '../contract.js'
import type { NativePack } from './addon.js'

/** Nothing is predicted from the last token of a row, so it is not computed. */
function computed({ tokens }: Row): number {
  return Math.max(1, tokens.length - 1)
}

/** Rows one after the other as the addon takes them. */
export function packed(rows: readonly Row[]): NativePack {
  const tokens = rows.reduce((sum, row) => sum + computed(row), 0)
  const scored = rows.reduce((sum, row) => sum + row.tokens.length - row.start, 0)
  const pack = {
    ids: new Int32Array(tokens),
    lengths: Int32Array.from(rows, computed),
    rows: new Int32Array(scored),
    targets: new Int32Array(scored),
    invT: new Float32Array(scored),
  }
  let at = 0
  let score = 0
  for (const row of rows) {
    const { tokens, start, temperature } = row
    const length = computed(row)
    pack.ids.set(tokens.subarray(0, length), at)
    for (let i = start; i < tokens.length; i++, score++) {
      pack.rows[score] = at + i - 1
      pack.targets[score] = tokens[i]
      pack.invT[score] = 1 / temperature
    }
    at += length
  }
  return pack
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
  const all = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
