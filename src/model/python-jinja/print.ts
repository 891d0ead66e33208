import { Interpreter } from '@huggingface/jinja'
import { MAX_TEXT, spendDeep, spendText } from './budget.js'
import {
  ArrayValue,
  BooleanValue,
  FloatValue,
  IntegerValue,
  NullValue,
  ObjectValue,
  text,
  type Value,
} from './values.js'

/** repr of a float: the shortest digits, with an exponent of two digits from 1e16 and below 1e-4 on. */
export function floatText(x: number): string {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? 'nan' : x > 0 ? 'inf' : '-inf'
  if (Object.is(x, -0)) return '-0.0'
  const [digits, exponent] = x
    .toExponential()
    .split('e')
    .map((part, i) => (i === 0 ? part : Number(part))) as [string, number]
  if (exponent >= 16 || (exponent < -4 && x !== 0)) {
    const size = String(Math.abs(exponent)).padStart(2, '0')
    return `${digits}e${exponent < 0 ? '-' : '+'}${size}`
  }
  const plain = exponent < 0 ? x.toFixed(Math.max(0, digits.replace(/[-.]/g, '').length - 1 - exponent)) : String(x)
  return plain.includes('.') ? plain : `${plain}.0`
}

export function integerText(x: number): string {
  return Number.isInteger(x) ? BigInt(x).toString() : String(x)
}

/** str of a value. */
export function str(value: Value): string {
  return value.type === 'StringValue' ? (value.value as string) : repr(value)
}

export function repr(value: Value): string {
  switch (value.type) {
    case 'StringValue':
      return quoted(value.value as string)
    case 'IntegerValue':
      return integerText(value.value as number)
    case 'FloatValue':
      return floatText(value.value as number)
    case 'BooleanValue':
      return value.value ? 'True' : 'False'
    case 'NullValue':
      return 'None'
    case 'UndefinedValue':
      return ''
    case 'ArrayValue':
      return `[${(value.value as Value[]).map(repr).join(', ')}]`
    case 'TupleValue': {
      const parts = (value.value as Value[]).map(repr)
      return `(${parts.join(', ')}${parts.length === 1 ? ',' : ''})`
    }
    case 'ObjectValue':
      return `{${[...(value.value as Map<string, Value>)].map(([key, one]) => `${quoted(key)}: ${repr(one)}`).join(', ')}}`
    default:
      return String(value.value)
  }
}

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

function quoted(value: string): string {
  const quote = value.includes("'") && !value.includes('"') ? '"' : "'"
  const inside = value.replace(/[\\\p{Cc}\xa0\xad]/gu, (c) => {
    return escapes[c] ?? `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
  return quote + (quote === "'" ? inside.replaceAll("'", "\\'") : inside) + quote
}

interface Printing {
  evaluate(statement: { type: string }, environment: unknown): Value
  evaluateBlock(statements: readonly { type: string }[], environment: unknown): Value
}

/** They stand in a template and print nothing. */
const silent = new Set(['Set', 'Macro', 'Comment', 'Break', 'Continue'])

/** Values print as Python prints them: None, True, ['a', 1.0]. The package prints JSON, and nothing for None. */
export function installPrint(): void {
  for (const kind of [ArrayValue, BooleanValue, FloatValue, IntegerValue, NullValue, ObjectValue]) {
    kind.prototype.toString = function (this: Value) {
      spendDeep(this)
      return str(this)
    }
  }
  const printing = Interpreter.prototype as unknown as Printing
  printing.evaluateBlock = function (statements, environment) {
    let out = ''
    for (const statement of statements) {
      const value = this.evaluate(statement, environment)
      if (value.type === 'UndefinedValue' || (value.type === 'NullValue' && silent.has(statement.type))) continue
      out += value.type === 'StringValue' ? value.value : value.toString()
      if (out.length > MAX_TEXT) break
    }
    spendText(out.length)
    return text(out)
  }
}
