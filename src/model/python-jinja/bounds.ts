import { Environment, Interpreter } from '@huggingface/jinja'
import { range, spend, spendCopy, spendDeep, spendRead, spendSearch, spendText, withBudget } from './budget.js'
import { str } from './print.js'
import { ArrayValue, ObjectValue, StringValue, text, type Value } from './values.js'

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

interface BinaryNode {
  readonly operator: { readonly value: string }
  readonly left: unknown
  readonly right: unknown
}

interface Interpreting {
  run(program: unknown): Value
  evaluate(node: unknown, environment: unknown): Value
  evaluateBinaryExpression(node: BinaryNode, environment: unknown): Value
  evaluateArguments(args: readonly unknown[], environment: unknown): [Value[], Map<string, Value>]
  evaluateSliceExpression(object: Value, node: unknown, environment: unknown): Value
  evaluateMacro(node: object, environment: unknown): Value
  evaluateCallStatement(node: object, environment: unknown): Value
}

/** Steps of `strftime_now`, which makes two formatters of dates. */
const DATE = 500

/**
 * Bounds the time and memory of a rendering. Every evaluated node is a step, and whatever takes longer the larger its
 * values are takes further steps before it is done.
 */
export function installBounds(): void {
  boundInterpreter(Interpreter.prototype as unknown as Interpreting)
  boundGlobals()
  boundValues()
}

function boundInterpreter(interpreter: Interpreting): void {
  const { run, evaluate, evaluateArguments, evaluateSliceExpression, evaluateMacro, evaluateCallStatement } =
    interpreter
  const binary = interpreter.evaluateBinaryExpression
  interpreter.run = function (program) {
    return withBudget(() => run.call(this, program))
  }
  interpreter.evaluate = function (node, environment) {
    spend(1)
    return evaluate.call(this, node, environment)
  }
  interpreter.evaluateBinaryExpression = function (node, environment) {
    const { operator } = node
    if (operator.value === 'and' || operator.value === 'or') return binary.call(this, node, environment)
    const left = this.evaluate(node.left, environment)
    const right = this.evaluate(node.right, environment)
    if (
      left.type === 'StringValue' &&
      right.type === 'StringValue' &&
      (operator.value === '+' || operator.value === '~')
    ) {
      const [a, b] = [left.value as string, right.value as string]
      spendText(a.length + b.length)
      return text(a + b)
    }
    spendOperation(operator.value, left.value, right.value)
    const result = binary.call(evaluated, { operator, left, right }, environment)
    if (result.type === 'StringValue') spendText((result.value as string).length)
    return result
  }
  interpreter.evaluateArguments = function (args, environment) {
    const given = evaluateArguments.call(this, args, environment)
    for (const one of given[0]) spendArgument(one)
    for (const one of given[1].values()) spendArgument(one)
    return given
  }
  interpreter.evaluateSliceExpression = function (object, node, environment) {
    // the characters of a text become a list
    if (object.type === 'StringValue') spend((object.value as string).length >> 4)
    else if (Array.isArray(object.value)) spendCopy(object.value.length)
    return evaluateSliceExpression.call(this, object, node, environment)
  }
  // both look through all of their body for names
  interpreter.evaluateMacro = function (node, environment) {
    spend(nodesOf(node))
    return evaluateMacro.call(this, node, environment)
  }
  interpreter.evaluateCallStatement = function (node, environment) {
    spend(nodesOf(node))
    return evaluateCallStatement.call(this, node, environment)
  }
}

/** An interpreter of operands that are values already. */
const evaluated = { evaluate: (value: unknown) => value } as unknown as Interpreting

function spendOperation(operator: string, left: unknown, right: unknown): void {
  if (Array.isArray(right)) {
    if (Array.isArray(left)) spendCopy(left.length + right.length)
    else if (operator === 'in' || operator === 'not in') spendFind(left, right)
  } else if (typeof left === 'string' && typeof right === 'string') {
    if (operator === 'in' || operator === 'not in') spendSearch(right.length, left.length)
    else if (left.length === right.length) spendRead(left.length)
  }
}

function spendFind(wanted: unknown, list: readonly Value[]): void {
  spendCopy(list.length)
  if (typeof wanted !== 'string' || wanted.length < 64) return
  // a comparison of texts with different lengths takes no time
  for (const { value } of list)
    if (typeof value === 'string' && value.length === wanted.length) spend(wanted.length >> 8)
}

function spendArgument({ value }: Value): void {
  if (typeof value === 'string') spendRead(value.length)
  else if (Array.isArray(value)) spendCopy(value.length)
  else if (value instanceof Map) spendCopy(value.size)
}

const counted = new WeakMap<object, number>()

function nodesOf(node: object): number {
  const known = counted.get(node)
  if (known !== undefined) return known
  let count = 1
  const parts = node instanceof Map ? [...node].flat() : Object.values(node)
  for (const part of parts) if (typeof part === 'object' && part !== null) count += nodesOf(part as Node)
  counted.set(node, count)
  return count
}

function boundGlobals(): void {
  const environment = Environment.prototype as unknown as {
    set(name: string, value: unknown): Value
    readonly tests: Map<string, (...values: Value[]) => boolean>
  }
  const { set } = environment
  environment.set = function (name, value) {
    if (typeof value !== 'function') return set.call(this, name, value)
    if (name === 'range') return set.call(this, name, range)
    if (name === 'raise_exception') return set.call(this, name, raise)
    if (name !== 'strftime_now') return set.call(this, name, value)
    const own = value as (format: string) => string
    return set.call(this, name, (format: string) => {
      spend(DATE)
      return own(format)
    })
  }
  const { tests } = new Environment() as unknown as typeof environment
  for (const name of ['lower', 'upper', 'eq', 'equalto']) {
    const own = tests.get(name)!
    tests.set(name, (...values) => {
      for (const one of values) if (one) spendArgument(one)
      return own(...values)
    })
  }
}

function raise(message: unknown): never {
  if (!Array.isArray(message)) throw new Error(String(message))
  const list = new ArrayValue(message)
  spendDeep(list)
  throw new Error(str(list))
}

function boundValues(): void {
  // JavaScript calls it for entries of lists that become text; blocks print texts without it
  StringValue.prototype.toString = function (this: Value) {
    spendText((this.value as string).length)
    return this.value as string
  }
  const object = ObjectValue.prototype as unknown as Record<'items' | 'keys' | 'values', (this: Value) => Value>
  for (const name of ['items', 'keys', 'values'] as const) {
    const own = object[name]
    object[name] = function () {
      spend((this.value as Map<string, Value>).size)
      return own.call(this)
    }
  }
}
