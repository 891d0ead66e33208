import { TrinityError } from '../../../base/error.js'

/** An object that stays in Java. It is kept there until it is freed. */
export class JavaReference {
  readonly id: string

  constructor(id: string) {
    this.id = id
  }
}

/** A `long` is a bigint, an `int` or a `double` a number, `void` is undefined. */
export type JavaValue = string | number | bigint | boolean | null | undefined | Uint8Array | JavaReference
export type JavaArgument = Exclude<JavaValue, undefined>

/** How a call ended: with a value, or with what was thrown. */
export interface Reply {
  readonly isOk: boolean
  readonly value: JavaValue
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' }
const MEANINGS: Readonly<Record<string, string>> = { n: '\n', r: '\r' }

/** A text on one line. */
export function toLine(text: string): string {
  return text.replace(/[\\\n\r]/g, (odd) => ESCAPES[odd])
}

export function fromLine(line: string): string {
  return line.replace(/\\(.?)/gs, (_, letter: string) => MEANINGS[letter] ?? letter)
}

/** An argument as a line of a command. */
export function encodeArgument(value: JavaArgument): string {
  if (value === null) return 'n'
  if (typeof value === 'string') return `s${toLine(value)}`
  if (typeof value === 'boolean') return `b${value}`
  if (typeof value === 'bigint') return `L${value}`
  if (typeof value === 'number')
    return Number.isInteger(value) && value === (value | 0) ? `i${value}` : `d${double(value)}`
  if (value instanceof JavaReference) return `r${value.id}`
  return `j${Buffer.from(value).toString('base64')}`
}

function double(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf'
}

const SPECIAL: Readonly<Record<string, number>> = {
  nan: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  infinity: Number.POSITIVE_INFINITY,
  '-inf': Number.NEGATIVE_INFINITY,
  '-infinity': Number.NEGATIVE_INFINITY,
}

/** A line of an answer, without its end. */
export function decodeReply(line: string): Reply {
  const isOk = line.startsWith('!y')
  if (!isOk && !line.startsWith('!x')) throw notUnderstood(line)
  // An error may come without a word.
  if (!isOk && line.length === 2) return { isOk, value: null }
  return { isOk, value: decodeValue(line, line.charAt(2), line.slice(3)) }
}

function decodeValue(line: string, type: string, text: string): JavaValue {
  switch (type) {
    case 's':
      return fromLine(text)
    case 'i':
      if (/^-?\d{1,10}$/.test(text)) return Number(text)
      break
    case 'L':
      if (/^-?\d{1,19}$/.test(text)) return BigInt(text)
      break
    case 'd':
    case 'D':
      if (/^-?[\d.]+(?:[eE][-+]?\d+)?$/.test(text)) return Number(text)
      if (Object.hasOwn(SPECIAL, text.toLowerCase())) return SPECIAL[text.toLowerCase()]
      break
    case 'b':
      if (text === 'true' || text === 'false') return text === 'true'
      break
    case 'n':
    case 'v':
      if (text === '') return type === 'n' ? null : undefined
      break
    case 'j':
      return Uint8Array.from(Buffer.from(text, 'base64'))
    // An object, list, set, array, map or iterator.
    case 'r':
    case 'l':
    case 'h':
    case 't':
    case 'a':
    case 'g':
      if (/^\w+$/.test(text)) return new JavaReference(text)
  }
  throw notUnderstood(line)
}

function notUnderstood(line: string): TrinityError {
  const shown = line.length > 80 ? `${line.slice(0, 80)}…` : line
  return new TrinityError('environment/py4j', `Java answered what is not py4j's protocol: ${JSON.stringify(shown)}`)
}
