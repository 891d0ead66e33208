/**
 * What every other folder stands on: the one error class, registries and their arguments, names that are nearly
 * right, files that are written whole, logs, random numbers, databases, secrets. It knows nothing of models or
 * training.
 */

import { redact } from './secret/known.js'

/**
 * The one error class of the project.
 *
 * It is thrown at the boundary where the cause is known, and says what went wrong (`message`), where (`path`)
 * and what to do (`hint`). None of these shows a secret. `code` is stable and machine-readable: `area/what`, for example `config/unknown-key`.
 * @example
 * import { TrinityError } from 'trinity-rft'
 *
 * throw new TrinityError('my-world/no-map', 'the map is missing', { path: 'maps/1.txt', hint: 'put it there' })
 */
export class TrinityError extends Error {
  override readonly name = 'TrinityError'
  readonly code: string
  readonly path?: string
  readonly key?: string
  readonly hint?: string

  constructor(code: string, message: string, options: TrinityErrorOptions = {}) {
    super(shortened(redact(message)), options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.path = options.path === undefined ? undefined : redact(options.path)
    this.key = options.key
    this.hint = options.hint === undefined ? undefined : redact(options.hint)
  }

  toJSON(): { code: string; message: string; path?: string; hint?: string } {
    return { code: this.code, message: this.message, path: this.path, hint: this.hint }
  }
}

/** Longest message, in characters: a damaged file may be quoted as one name. */
const LONGEST_MESSAGE = 16_000

function shortened(message: string): string {
  return message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message
}

/** Where it went wrong, and how to fix it. */
export interface TrinityErrorOptions {
  /** Where: a file, a file:line:column, a key path, a URL. */
  path?: string
  /** The key of a configuration that asked for it, where `path` is a place in somebody's code. */
  key?: string
  /** How to fix it, as an instruction. */
  hint?: string
  cause?: unknown
}

/** Text of anything that was thrown, without secrets. */
export function messageOf(error: unknown): string {
  return redact(error instanceof Error ? error.message : String(error))
}

/**
 * Reason why a library could not read a file. Errors of the JavaScript engine itself (a property of undefined, an array
 * of a negative length) only mean that the content has a form which the library did not expect.
 */
export function readFault(error: unknown): string {
  return error instanceof TypeError || isEngineRange(error) ? 'the content is damaged' : messageOf(error)
}

function isEngineRange(error: unknown): boolean {
  return error instanceof RangeError && /^(Maximum call stack|Invalid |Array buffer|Offset is out)/.test(error.message)
}
