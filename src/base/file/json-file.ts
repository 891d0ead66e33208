import { readFile } from 'node:fs/promises'
import { messageOf, TrinityError } from '../error.js'
import { parseNumbers } from '../json-numbers.js'
import { parseJsonText } from '../json-text.js'
import { READ_NOW } from './read-now.js'
import { unreadable } from './system-error.js'

export type JsonObject = Record<string, unknown>

export interface ReadJsonOptions {
  /** Keep the spelling of numbers (50.0, 1e-05) for when the object is written again. Default: false. */
  keepNumbers?: boolean
}

/** Reads the JSON object in a file. Returns undefined if the file does not exist. */
export async function readJsonObject(path: string, options: ReadJsonOptions = {}): Promise<JsonObject | undefined> {
  let text: string
  try {
    text = await readFile(path, { encoding: 'utf8', flag: READ_NOW })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(path, cause)
  }
  return parseJsonObject(text, path, options.keepNumbers ? parseNumbers : parseJsonText)
}

function parseJsonObject(text: string, path: string, parse: (text: string) => unknown): JsonObject {
  let value: unknown
  try {
    value = parse(text)
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
