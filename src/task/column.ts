import { TrinityError } from '../base/error.js'
import { nearest } from '../base/nearest.js'
import type { DataRow } from './source/row-source.js'

/** Names shown in a message. */
const SHOWN = 24
const STEP = /\.?([^.[\]]+)|\[(\d+)\]/gy

/**
 * The value of a column. A key may lead into one: `reward_model.ground_truth`, `prompt[0].content`. A column that has the
 * whole key as its name comes first.
 */
export function columnOf(row: DataRow, key: string): unknown {
  if (Object.hasOwn(row, key)) return row[key]
  let value: unknown = row
  for (const step of stepsOf(key) ?? []) {
    if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return undefined
    value = Object.prototype.propertyIsEnumerable.call(value, step) ? (value as DataRow)[step] : undefined
  }
  return value === row ? undefined : value
}

/** `a.b[0]` → a, b, 0; undefined when the text is no such path. */
function stepsOf(key: string): string[] | undefined {
  const steps = [...key.matchAll(STEP)]
  const length = steps.reduce((sum, [text]) => sum + text.length, 0)
  return length === key.length && !key.startsWith('.') ? steps.map(([, name, index]) => name ?? index) : undefined
}

/** The columns of a row, each followed by the paths into it. */
function columnNames(row: DataRow): string[] {
  return Object.entries(row).flatMap(([name, value]) => [name, ...pathsInto(name, value)])
}

function pathsInto(name: string, value: unknown): string[] {
  if (Array.isArray(value)) return isRecord(value[0]) ? Object.keys(value[0]).map((key) => `${name}[0].${key}`) : []
  return isRecord(value) ? Object.keys(value).map((key) => `${name}.${key}`) : []
}

function isRecord(value: unknown): value is DataRow {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && !ArrayBuffer.isView(value)
}

/** What data sets usually call the two things a task is made of. */
const USUAL = {
  prompt_key: ['question', 'problem', 'messages', 'prompt', 'instruction', 'query', 'input', 'conversations', 'text'],
  response_key: [
    ...['answer', 'reward_model.ground_truth', 'ground_truth', 'solution', 'truth', 'final_answer', 'target', 'label'],
    ...['response', 'output', 'extra_info.answer'],
  ],
}

/** A key of `format` that names no column of the row, with the columns there are and the one that was probably meant. */
export function missingColumn(row: DataRow, option: keyof typeof USUAL, key: string): TrinityError {
  const names = columnNames(row)
  const what = option === 'prompt_key' ? 'prompt' : 'right answer'
  const present = columnOf(row, key) === null
  const meant =
    nearest(
      key,
      names.filter((name) => name !== key),
    ) ?? USUAL[option].find((name) => columnOf(row, name) != null)
  const listed = names.length > SHOWN ? [...names.slice(0, SHOWN), '…'] : names
  const list = `columns: ${listed.join(', ')}`
  return new TrinityError(
    'task/column',
    present ? `the row has no ${what}: the column '${key}' is empty` : `the row has no ${what}: no column '${key}'`,
    { hint: meant && !present ? `set format.${option}: ${meant} (${list})` : `set format.${option} (${list})` },
  )
}
