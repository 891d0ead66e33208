import { rename } from 'node:fs/promises'
import { TrinityError } from '../base/error.js'
import { type JsonObject, readJsonObject } from '../base/file/json-file.js'
import { asideName } from './layout.js'

/** Logs one line. */
export type Warn = (text: string) => void

/**
 * Reads a JSON summary that the run writes again anyway, such as `best_eval.json`. A damaged one must not end the run: it
 * is kept under another name, with a warning, and undefined is returned as if there were none. Other errors of the file
 * system are thrown, because the next write would fail as well.
 */
export async function readSummary<T extends JsonObject>(
  path: string,
  warn: Warn = () => {},
  isValid: (value: JsonObject) => value is T = isAny,
): Promise<T | undefined> {
  const { found, wrong } = await readChecked(path, isValid)
  if (wrong === undefined) return found
  const aside = asideName(path, 'damaged')
  await rename(path, aside)
  warn(`${wrong}: it is kept as ${aside}, and a new one begins`)
  return undefined
}

/** As `readSummary`, but leaves a damaged file in its place: for processes that only look. */
export async function peekSummary<T extends JsonObject>(
  path: string,
  warn: Warn,
  isValid: (value: JsonObject) => value is T = isAny,
): Promise<T | undefined> {
  const { found, wrong } = await readChecked(path, isValid)
  if (wrong !== undefined) warn(wrong)
  return found
}

function isAny<T extends JsonObject>(_value: JsonObject): _value is T {
  return true
}

async function readChecked<T extends JsonObject>(
  path: string,
  isValid: (value: JsonObject) => value is T,
): Promise<{ found?: T; wrong?: string }> {
  try {
    const value = await readJsonObject(path)
    if (value === undefined || isValid(value)) return { found: value }
    return { wrong: `${path} does not hold what it should` }
  } catch (error) {
    if (!(error instanceof TrinityError) || error.code !== 'file/json') throw error
    return { wrong: error.message }
  }
}
