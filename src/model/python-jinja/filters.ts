import { Interpreter } from '@huggingface/jinja'
import { strip } from './strip.js'
import { toJson } from './to-json.js'
import { ArrayValue, text, UndefinedValue, type Value } from './values.js'

interface Node {
  readonly type: string
  readonly value?: unknown
  readonly callee?: Node
  readonly args?: readonly Node[]
}

interface Environment {
  readonly tests: ReadonlyMap<string, (...values: Value[]) => boolean>
}

interface Filtering {
  applyFilter(operand: Value, filter: Node, environment: Environment): Value
  evaluateArguments(args: readonly Node[], environment: Environment): [Value[], Map<string, Value>]
}

/** Filters that the package computes otherwise than Jinja. */
export function installFilters(): void {
  const filtering = Interpreter.prototype as unknown as Filtering
  const own = filtering.applyFilter
  filtering.applyFilter = function (operand, filter, environment) {
    const name = filter.type === 'Identifier' ? filter.value : filter.callee?.value
    const given = () => this.evaluateArguments(filter.args ?? [], environment)
    if (name === 'tojson') return text(toJson(operand, given()[1]))
    if (name === 'trim' && operand.type === 'StringValue') {
      const [[characters]] = given()
      const set = characters?.type === 'StringValue' ? (characters.value as string) : undefined
      return text(strip(operand.value as string, set, true, true))
    }
    if ((name === 'selectattr' || name === 'rejectattr') && operand.type === 'ArrayValue') {
      return selectByAttribute(operand, given()[0], name === 'selectattr', environment)
    }
    return own.call(this, operand, filter, environment)
  }
}

/** An attribute that is absent is tested too: it is undefined. The package passes it over. */
function selectByAttribute(list: Value, args: Value[], select: boolean, environment: Environment): Value {
  const [attribute, test, ...rest] = args
  const check = test && environment.tests.get(test.value as string)
  if (test && !check) throw new Error(`Unknown test: ${test.value}`)
  const path = String(attribute?.value).split('.')
  const kept = (list.value as Value[]).filter((item) => {
    const value = path.reduce((from, key) => member(from, key), item)
    return (check ? check(value, ...rest) : value.__bool__().value) === select
  })
  return new ArrayValue(kept)
}

function member(from: Value, key: string): Value {
  const found = from.value instanceof Map ? (from.value.get(key) as Value | undefined) : undefined
  return found ?? new UndefinedValue(undefined)
}
