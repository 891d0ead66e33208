import { readFile } from 'node:fs/promises'
import { messageOf, TrinityError } from '../error.js'
import { READ_NOW } from './read-now.js'
import { unreadable } from './system-error.js'

export type JsonObject = Record<string, unknown>

/** The JSON object in a file; undefined where the file does not exist. */
export async function readJsonObject(path: string): Promise<JsonObject | undefined> {
  let text: string
  try {
    text = await readFile(path, { encoding: 'utf8', flag: READ_NOW })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(path, cause)
  }
  return parseJsonObject(text, path)
}

function parseJsonObject(text: string, path: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new TrinityError('file/json', `${path} is not valid JSON: ${messageOf(cause)}`, {
      path,
      hint: 'copy or download the file again',
      cause,
    })
  }
  if (isJsonObject(value)) return value
  throw new TrinityError('file/json', `${path} does not hold a JSON object`, { path })
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
