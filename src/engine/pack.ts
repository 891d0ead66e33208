import { TrinityError } from '../base/error.js'
import type { Loss, Row } from './contract.js'
import { outsideToken } from './outside-token.js'

/**
 * Splits a mini-batch into micro-batches of at most `tokenBudget` tokens, in order, without separating what a loss
 * couples: for `batch` that is everything. A row (or bundle) that is longer than the budget goes alone. `counter` makes, for each micro-batch anew, what
 * counts the tokens that a further row adds to it.
 */
export function packRows(
  rows: readonly Row[],
  tokenBudget: number,
  coupling: Loss['coupling'] = 'row',
  counter: () => (row: Row) => number = () => (row) => row.tokens.length,
): Row[][] {
  if (coupling === 'batch') return rows.length === 0 ? [] : [[...rows]]
  const units = coupling === 'row' ? rows.map((row) => [row]) : bundles(rows)
  const packs: Row[][] = []
  let room = 0
  let count = counter()
  for (const unit of units) {
    let tokens = unit.reduce((sum, row) => sum + count(row), 0)
    if (packs.length === 0 || tokens > room) {
      packs.push([])
      room = tokenBudget
      count = counter()
      tokens = unit.reduce((sum, row) => sum + count(row), 0)
    }
    packs[packs.length - 1].push(...unit)
    room -= tokens
  }
  return packs
}

/** Rows by bundle, in order of first appearance; a row without a bundle stands alone. */
function bundles(rows: readonly Row[]): Row[][] {
  const byName = new Map<string, Row[]>()
  const units: Row[][] = []
  for (const row of rows) {
    const open = row.bundle === undefined ? undefined : byName.get(row.bundle)
    if (open) {
      open.push(row)
      continue
    }
    const unit = [row]
    units.push(unit)
    if (row.bundle !== undefined) byName.set(row.bundle, unit)
  }
  return units
}

/** Checks what every engine relies on, so that a wrong row is a typed error and never a wrong number. */
export function checkRows(rows: readonly Row[], limits: { vocabSize: number; maxModelLen: number }): void {
  for (const row of rows) {
    const scored = row.tokens.length - row.start
    if (!Number.isInteger(row.start) || row.start < 1 || scored < 0) {
      fail(
        row,
        `start is ${row.start} for ${row.tokens.length} tokens`,
        'start is the first scored position: 1 … tokens.length',
      )
    }
    if (row.tokens.length > limits.maxModelLen) {
      fail(row, `${row.tokens.length} tokens, the model takes ${limits.maxModelLen}`, 'lower model.max_model_len')
    }
    if (!(row.temperature > 0))
      fail(row, `temperature is ${row.temperature}`, 'use the temperature it was sampled with; 1 for greedy')
    if (row.mask.length !== scored) fail(row, `mask has ${row.mask.length} entries for ${scored} scored tokens`)
    for (const [name, column] of Object.entries(row.columns)) {
      if (typeof column !== 'number' && column.length !== scored) {
        fail(row, `column '${name}' has ${column.length} entries for ${scored} scored tokens`)
      }
    }
    const unknown = outsideToken(row.tokens, limits.vocabSize)
    if (unknown !== undefined) {
      fail(
        row,
        `token id ${unknown} is outside the vocabulary of ${limits.vocabSize}`,
        'is this the tokenizer of this model?',
      )
    }
  }
}

/** A sequence of which nothing is scored. */
export function plainRow(tokens: Int32Array, id: string): Row {
  if (tokens.length === 0) throw new TrinityError('engine/bad-row', `row '${id}' is empty`, { path: id })
  return { id, tokens, start: tokens.length, mask: new Uint8Array(0), temperature: 1, columns: {} }
}

function fail(row: Row, message: string, hint?: string): never {
  throw new TrinityError('engine/bad-row', `row '${row.id}': ${message}`, { path: row.id, hint })
}
