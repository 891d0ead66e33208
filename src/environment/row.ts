import { z } from 'zod'
import { TrinityError } from '../base/error.js'
import type { DataRow } from '../task/index.js'

/** The columns of a row that a world reads, checked. Empty ones count as absent; the others are not looked at. */
export function readRow<S extends z.ZodObject>(world: string, columns: S, row: DataRow): z.output<S> {
  const given = Object.fromEntries(Object.keys(columns.shape).map((name) => [name, row[name] ?? undefined]))
  const parsed = columns.safeParse(given)
  if (parsed.success) return parsed.data
  const { path, message } = parsed.error.issues[0]
  throw rowError(world, String(path[0]), message.charAt(0).toLowerCase() + message.slice(1), row[String(path[0])])
}

/** What is wrong with a column, with the beginning of what stands there. */
export function rowError(world: string, column: string, message: string, value: unknown): TrinityError {
  const text = JSON.stringify(value) ?? String(value)
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text
  return new TrinityError('environment/row', `${world}: column '${column}' of the row: ${message} (it is ${shown})`, {
    path: column,
    hint: 'docs/worlds.md lists the columns that each world reads',
  })
}

/** A whole number; files of text hold it as digits. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER) {
  const digits = (value: unknown) => (typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value)
  return z.preprocess(digits, z.int('expected a whole number').min(min).max(max))
}

/** Chooses all that the row leaves open. */
export const seedColumn = wholeNumber(0).optional()
