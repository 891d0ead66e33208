import { TrinityError } from '../base/error.js'
import type { JsonObject } from '../base/file/json-file.js'

/** Typed access to the keys of a JSON object, with errors that name file and key. A null counts as absent. */
export class ConfigReader {
  readonly #values: JsonObject
  readonly #path: string

  constructor(values: JsonObject, path: string) {
    this.#values = values
    this.#path = path
  }

  /** Number of keys. */
  get size(): number {
    return Object.keys(this.#values).length
  }

  has(key: string): boolean {
    return this.#get(key) !== undefined
  }

  integer(key: string, range: { min: number; max?: number; fallback?: number }): number {
    const value = this.#get(key)
    if (value === undefined && range.fallback !== undefined) return range.fallback
    const max = range.max ?? 2 ** 31 - 1
    if (Number.isSafeInteger(value) && (value as number) >= range.min && (value as number) <= max)
      return value as number
    throw this.wrong(key, value, `an integer from ${range.min} to ${max}`)
  }

  /** A finite number > 0. */
  positive(key: string, fallback?: number): number {
    const value = this.#get(key)
    if (value === undefined && fallback !== undefined) return fallback
    if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value
    throw this.wrong(key, value, 'a number above 0')
  }

  flag(key: string, fallback: boolean): boolean {
    const value = this.#get(key)
    if (value === undefined) return fallback
    if (typeof value === 'boolean') return value
    throw this.wrong(key, value, 'true or false')
  }

  text(key: string, fallback: string): string {
    const value = this.#get(key)
    if (value === undefined) return fallback
    if (typeof value === 'string') return value
    throw this.wrong(key, value, 'text')
  }

  object(key: string): ConfigReader | undefined {
    const value = this.#get(key)
    if (value === undefined) return undefined
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return new ConfigReader(value as JsonObject, `${this.#path}: ${key}`)
    }
    throw this.wrong(key, value, 'an object')
  }

  texts(key: string): string[] {
    const value = this.#get(key)
    if (value === undefined) return []
    if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value
    throw this.wrong(key, value, 'a list of names')
  }

  numbers(key: string): number[] {
    const value = this.#get(key)
    if (Array.isArray(value) && value.every((entry) => Number.isFinite(entry))) return value
    throw this.wrong(key, value, 'a list of numbers')
  }

  /** A list of true and false, or of 1 and 0; undefined where it is no list. */
  flags(key: string): boolean[] | undefined {
    const value = this.#get(key)
    if (!Array.isArray(value) && !ArrayBuffer.isView(value)) return undefined
    const list = Array.from(value as ArrayLike<unknown>)
    if (list.every((entry) => [true, false, 0, 1].includes(entry as boolean))) return list.map(Boolean)
    throw this.wrong(key, value, 'a list of true and false')
  }

  /** Hugging Face writes one id or a list of them. */
  tokenIds(key: string): number[] {
    const value = this.#get(key)
    if (value === undefined) return []
    const ids = Array.isArray(value) ? value : [value]
    // −1 stands for "none" in some configurations.
    if (ids.every((id) => Number.isSafeInteger(id) && id >= -1 && id < 2 ** 31)) return ids.filter((id) => id >= 0)
    throw this.wrong(key, value, 'a token id or a list of them')
  }

  wrong(key: string, value: unknown, expected: string): TrinityError {
    const shown = value === undefined ? 'is missing' : `is ${JSON.stringify(value)?.slice(0, 80)}`
    return new TrinityError('model/config', `${this.#path}: '${key}' ${shown}; expected ${expected}`, {
      path: this.#path,
    })
  }

  unsupported(what: string, hint: string): TrinityError {
    return new TrinityError('model/unsupported', `${this.#path}: ${what}`, { path: this.#path, hint })
  }

  #get(key: string): unknown {
    if (!Object.hasOwn(this.#values, key)) return undefined
    return this.#values[key] ?? undefined
  }
}
