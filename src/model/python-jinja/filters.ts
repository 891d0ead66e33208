import { Interpreter } from '@huggingface/jinja'
import { spend, spendCopy, spendDeep, spendRead } from './budget.js'
import { indent, join } from './strings.js'
import { strip } from './strip.js'
import { toJson } from './to-json.js'
import { ArrayValue, IntegerValue, text, UndefinedValue, type Value } from './values.js'

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
      spendRead((operand.value as string).length)
      const [[characters]] = given()
      const set = characters?.type === 'StringValue' ? (characters.value as string) : undefined
      return text(strip(operand.value as string, set, true, true))
    }
    if ((name === 'selectattr' || name === 'rejectattr') && operand.type === 'ArrayValue') {
      return selectByAttribute(operand, given()[0], name === 'selectattr', environment)
    }
    if (name === 'join' && (operand.type === 'StringValue' || Array.isArray(operand.value))) {
      const [[separator], named] = given()
      return join(operand, string(separator ?? named.get('separator') ?? text(''), 'separator'))
    }
    if (name === 'indent' && operand.type === 'StringValue') {
      const [[width, first, blank], named] = given()
      const flag = (value: Value | undefined, key: string) => Boolean((value ?? named.get(key))?.value)
      const { type, value } = width ?? named.get('width') ?? four
      if (type !== 'IntegerValue') throw new Error('width must be a number')
      return indent(operand.value as string, value as number, flag(first, 'first'), flag(blank, 'blank'))
    }
    spendFilter(String(name), operand, given)
    return own.call(this, operand, filter, environment)
  }
}

const four = new IntegerValue(4)

function string({ type, value }: Value, key: string): string {
  if (type !== 'StringValue') throw new Error(`${key} must be a string`)
  return value as string
}

/** Takes the steps of a filter of the package. */
function spendFilter(name: string, operand: Value, given: () => [Value[], Map<string, Value>]): void {
  const { value } = operand
  if (typeof value === 'string') spendRead(value.length)
  if (!Array.isArray(value) && !(value instanceof Map)) return
  if (name === 'length' || name === 'list' || name === 'default' || name === 'first' || name === 'last') return
  const entries = Array.isArray(value) ? value.length : value.size
  const [list, named] = given()
  const path = [...list, ...named.values()].reduce((sum, one) => sum + lengthOf(one), 0)
  spend(entries * (1 + (path >> 4)))
  if (name === 'sort' || name === 'dictsort') spend(spendDeep(operand) * Math.ceil(Math.log2(entries + 1)))
  else if (name === 'string' || name === 'unique') spendDeep(operand)
}

const lengthOf = ({ value }: Value): number => (typeof value === 'string' ? value.length : 0)

/** An attribute that is absent is tested too: it is undefined. The package passes it over. */
function selectByAttribute(list: Value, args: Value[], select: boolean, environment: Environment): Value {
  const [attribute, test, ...rest] = args
  const check = test && environment.tests.get(test.value as string)
  if (test && !check) throw new Error(`Unknown test: ${test.value}`)
  const path = String(attribute?.value).split('.')
  spendCopy((list.value as Value[]).length * path.length)
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
