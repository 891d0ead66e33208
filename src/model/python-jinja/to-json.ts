import { spendDeep, spendText } from './budget.js'
import { floatText, integerText } from './print.js'
import type { Value } from './values.js'

interface Options {
  readonly indent: number
  readonly ascii: boolean
  readonly sort: boolean
  readonly item: string
  readonly key: string
}

/** json.dumps as Transformers gives it to templates: floats stay floats (1.0, 1e-07). */
export function toJson(value: Value, given: ReadonlyMap<string, Value>): string {
  const indent = given.get('indent')
  const separators = given.get('separators')?.value as Value[] | null | undefined
  spendDeep(value)
  const wide = typeof indent?.value === 'number'
  return dump(value, 0, {
    indent: wide ? (indent.value as number) : -1,
    ascii: given.get('ensure_ascii')?.value === true,
    sort: given.get('sort_keys')?.value === true,
    item: (separators?.[0]?.value as string | undefined) ?? (wide ? ',' : ', '),
    key: (separators?.[1]?.value as string | undefined) ?? ': ',
  })
}

function dump(value: Value, depth: number, options: Options): string {
  switch (value.type) {
    case 'NullValue':
    case 'UndefinedValue':
      return 'null'
    case 'BooleanValue':
      return String(value.value)
    case 'IntegerValue':
      return integerText(value.value as number)
    case 'FloatValue':
      return named(floatText(value.value as number))
    case 'StringValue':
      return quoted(value.value as string, options)
    case 'ArrayValue':
    case 'TupleValue': {
      const parts = (value.value as Value[]).map((one) => dump(one, depth + 1, options))
      return wrapped('[', parts, ']', depth, options)
    }
    case 'ObjectValue':
    case 'NamespaceValue': {
      const entries = [...(value.value as Map<string, Value>)]
      if (options.sort) entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      const parts = entries.map(([key, one]) => quoted(key, options) + options.key + dump(one, depth + 1, options))
      return wrapped('{', parts, '}', depth, options)
    }
    default:
      throw new Error(`Cannot convert to JSON: ${value.type}`)
  }
}

function named(float: string): string {
  return float.replace('nan', 'NaN').replace('inf', 'Infinity')
}

function wrapped(open: string, parts: readonly string[], close: string, depth: number, options: Options): string {
  spendText(parts.length * options.item.length + (parts.length + 1) * Math.max(0, options.indent) * (depth + 1))
  if (options.indent < 0 || parts.length === 0) return open + parts.join(options.item) + close
  const line = (level: number) => `\n${' '.repeat(options.indent * level)}`
  return open + line(depth + 1) + parts.join(options.item + line(depth + 1)) + line(depth) + close
}

function quoted(value: string, { ascii }: Options): string {
  const json = JSON.stringify(value)
  if (!ascii) return json
  return json.replace(/[\x7f-\uffff]/g, (c) =>
    c === '\x7f' ? c : `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
