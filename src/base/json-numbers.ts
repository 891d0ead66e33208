import { outsideStrings, parseJsonText } from './json-text.js'

/**
 * Reads and writes JSON so that numbers keep their spelling: 50.0 stays 50.0 and 1e-05 stays 1e-05. JavaScript has one
 * kind of number, but strict readers in Python refuse an integer in place of a float.
 *
 * Parsed values are plain numbers. The spelling of those that `JSON.stringify` would write differently is stored in the
 * object or list that holds them, under an enumerable symbol: spreads and `Object.assign` copy it, keys and
 * `JSON.stringify` ignore it. A spelling counts only while its number has the same value.
 */
const SPELLING = Symbol('number spelling')

type Holder = { [SPELLING]?: Record<string, string> }

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Parses JSON like `parseJsonText`, and keeps the spelling of numbers for `stringifyNumbers`. */
export function parseNumbers(text: string): unknown {
  const value = parseJsonText(text)
  let mark = 'number:'
  while (text.includes(mark)) mark = `_${mark}`
  const sources: string[] = []
  const marked = outsideStrings(text, (json) =>
    json.replace(NUMBER, (source) => {
      if (JSON.stringify(Number(source)) === source) return source
      return `"${mark}${sources.push(source) - 1}"`
    }),
  )
  if (sources.length === 0) return value
  return JSON.parse(marked, function (this: Holder, key: string, value: unknown) {
    const source = typeof value === 'string' && value.startsWith(mark) ? sources[Number(value.slice(mark.length))] : ''
    if (!source) return value
    setSpelling(this, key, source)
    return Number(source)
  })
}

/** Writes JSON with two spaces of indentation like `JSON.stringify`, with the spelling that numbers were read with. */
export function stringifyNumbers(value: unknown): string {
  return hasSpelling(value) ? written(value, '') : JSON.stringify(value, null, 2)
}

/** Returns a copy in which whole numbers under `keys`, at any depth and in lists, are written as floats: 50.0. */
export function asFloats<T>(value: T, keys: ReadonlySet<string>): T {
  return spelledAsFloats(value, keys, false) as T
}

function spelledAsFloats(value: unknown, keys: ReadonlySet<string>, all: boolean): unknown {
  if (typeof value !== 'object' || value === null) return value
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown> & Holder
  const before = (value as Holder)[SPELLING]
  if (before) copy[SPELLING] = { ...before }
  for (const [key, one] of Object.entries(value)) {
    const isFloat = all || keys.has(key)
    copy[key] = spelledAsFloats(one, keys, isFloat && Array.isArray(one))
    if (!isFloat || !Number.isInteger(one)) continue
    const source = spelling(copy, key, one) ?? String(one)
    if (/^-?\d+$/.test(source)) setSpelling(copy, key, `${source}.0`)
  }
  return copy
}

function setSpelling(holder: Holder, key: string, source: string): void {
  holder[SPELLING] ??= {}
  Object.defineProperty(holder[SPELLING], key, { value: source, enumerable: true, configurable: true, writable: true })
}

/** Source text of `holder[key]`; undefined if it is spelled as usual, or was replaced by another number. */
function spelling(holder: object, key: string, value: unknown): string | undefined {
  const known = (holder as Holder)[SPELLING]
  if (!known || !Object.hasOwn(known, key)) return undefined
  return Object.is(Number(known[key]), value) ? known[key] : undefined
}

function hasSpelling(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return SPELLING in value || Object.values(value).some(hasSpelling)
}

function written(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const inner = `${indent}  `
  const list = Array.isArray(value)
  const parts = Object.entries(value)
    .filter(([, one]) => list || one !== undefined)
    .map(([key, one]) => (list ? '' : `${JSON.stringify(key)}: `) + (spelling(value, key, one) ?? written(one, inner)))
  const [open, close] = list ? '[]' : '{}'
  return parts.length === 0 ? open + close : `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`
}
