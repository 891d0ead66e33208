import { MAX_TEXT, spend, spendRead, spendSearch, spendText } from './budget.js'
import { strip } from './strip.js'
import { FunctionValue, StringValue, text, type Value } from './values.js'

type Method = (args: Value[], scope: unknown) => Value
type Methods = Map<string, Value>

const sides: Readonly<Record<string, readonly [left: boolean, right: boolean]>> = {
  strip: [true, true],
  lstrip: [true, false],
  rstrip: [false, true],
}

/** The methods of one text, each made when it is looked up. */
class StringMethods {
  readonly #value: string
  /** The package's own. */
  readonly #methods: () => Methods

  constructor(value: string, methods: () => Methods) {
    this.#value = value
    this.#methods = methods
  }

  get(name: string): Value | undefined {
    const value = this.#value
    const side = Object.hasOwn(sides, name) ? sides[name] : undefined
    // The package's strip leaves its argument unread: answers of Qwen3 lost the indent of their first line.
    if (side) return method(([given]) => text(strip(value, textOf(given), ...side)), value)
    const own = this.#methods().get(name)
    if (own?.type !== 'FunctionValue') return own
    return method((args, scope) => {
      spendMethod(name, value, args)
      return (own.value as Method)(args, scope)
    }, value)
  }
}

function method(call: Method, value: string): Value {
  return new FunctionValue((args: Value[], scope: unknown) => {
    spendRead(value.length)
    return call(args, scope)
  })
}

const textOf = (value: Value | undefined) => (value?.type === 'StringValue' ? (value.value as string) : undefined)

/** Takes the steps of a method before it is called. */
function spendMethod(name: string, value: string, args: readonly Value[]): void {
  const [first, second] = [textOf(args[0]), textOf(args[1])]
  if (name === 'replace' && first !== undefined && second !== undefined) {
    const count = occurrences(value, first)
    spend(count + (first.length >> 4))
    spendText(Math.max(value.length, value.length + count * (second.length - first.length)))
  } else if (name === 'split') {
    if (first !== undefined) spend(occurrences(value, first))
    else for (const _ of value.matchAll(/\S+/g)) spend(1)
  } else if (name !== 'startswith' && name !== 'endswith') spendText(value.length)
}

function occurrences(value: string, pattern: string): number {
  if (pattern === '') return value.length + 1
  spendSearch(value.length, pattern.length)
  let count = 0
  for (let at = value.indexOf(pattern); at >= 0; at = value.indexOf(pattern, at + pattern.length)) count++
  return count
}

/** The filters `join` and `indent`, whose results may be far longer than what they are given. */
export function join(operand: Value, separator: string): Value {
  if (operand.type === 'StringValue') spend((operand.value as string).length >> 4)
  const parts =
    operand.type === 'StringValue'
      ? [...(operand.value as string)]
      : (operand.value as Value[]).map(({ value }) => value)
  spend(parts.length)
  let length = Math.max(0, parts.length - 1) * separator.length
  for (const part of parts) {
    if (typeof part === 'string') length += part.length
    if (length > MAX_TEXT) break
  }
  spendText(length)
  return text(parts.join(separator))
}

export function indent(value: string, width: number, first: boolean, blank: boolean): Value {
  const lines = occurrences(value, '\n') + 1
  spend(lines)
  spendText(value.length + lines * Math.max(0, width))
  const prefix = ' '.repeat(width)
  const indented = value
    .split('\n')
    .map((line, i) => ((!first && i === 0) || (!blank && line.length === 0) ? line : prefix + line))
  return text(indented.join('\n'))
}

export function installStrings(): void {
  const own = Object.getOwnPropertyDescriptor(StringValue.prototype, 'builtins')?.get as (this: Value) => Methods
  Object.defineProperty(StringValue.prototype, 'builtins', {
    configurable: true,
    get(this: Value) {
      return new StringMethods(this.value as string, () => own.call(this))
    },
  })
}
