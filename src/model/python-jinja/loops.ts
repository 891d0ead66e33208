import { Environment, Interpreter } from '@huggingface/jinja'
import { MAX_TEXT, spend, spendText } from './budget.js'
import { BooleanValue, IntegerValue, ObjectValue, text, UndefinedValue, type Value } from './values.js'

interface Scope {
  readonly parent?: Scope
  readonly variables: Map<string, Value>
  setVariable(name: string, value: Value): void
}

interface Node {
  readonly type: string
  readonly value: unknown
}

interface ForNode {
  readonly loopvar: Node
  readonly iterable: Node & { readonly lhs?: Node; readonly test?: Node }
  readonly body: readonly Node[]
  readonly defaultBlock: readonly Node[]
}

interface Looping {
  evaluate(node: unknown, scope: unknown): Value
  evaluateBlock(nodes: readonly Node[], scope: unknown): Value
  evaluateFor(node: ForNode, environment: Scope): Value
}

const newScope = (parent: Scope): Scope => new Environment(parent as unknown as Environment) as unknown as Scope

/** Class of the exception that `{% break %}` and `{% continue %}` throw. The package does not export it. */
function thrownBy(type: 'Break' | 'Continue'): new () => Error {
  try {
    new Interpreter().evaluate({ type } as never, new Environment())
  } catch (error) {
    return (error as Error).constructor as new () => Error
  }
  throw new Error(`${type} throws nothing`)
}

/**
 * Loops that count their items as steps, and variables that are found without an exception. The package makes a scope with
 * its functions for every item, and throws and catches an error, which may be that of a full stack, for unknown names.
 */
export function installLoops(): void {
  const [Break, Continue] = [thrownBy('Break'), thrownBy('Continue')]
  const environment = Environment.prototype as unknown as { lookupVariable(this: Scope, name: string): Value }
  environment.lookupVariable = function (name) {
    for (let scope: Scope | undefined = this; scope; scope = scope.parent) {
      const value = scope.variables.get(name)
      if (value !== undefined) return value
      // the first entry of an empty list
      if (scope.variables.has(name)) break
    }
    return new UndefinedValue(undefined)
  }
  const looping = Interpreter.prototype as unknown as Looping
  looping.evaluateFor = function (node, environment) {
    const scope = newScope(environment)
    const items = itemsOf(this, node, scope)
    let out = ''
    let isEmpty = true
    for (let i = 0; i < items.length; i++) {
      scope.setVariable('loop', loopValue(items, i))
      assign(node.loopvar, items[i], scope)
      try {
        out += this.evaluateBlock(node.body, scope).value
      } catch (error) {
        if (error instanceof Continue) continue
        if (error instanceof Break) break
        throw error
      }
      if (out.length > MAX_TEXT) spendText(out.length)
      isEmpty = false
    }
    if (isEmpty) out += this.evaluateBlock(node.defaultBlock, scope).value
    return text(out)
  }
}

/** Items of a loop that pass its test. */
function itemsOf(interpreter: Looping, { iterable, loopvar }: ForNode, scope: Scope): Value[] {
  const test = iterable.type === 'SelectExpression' ? iterable.test : undefined
  const given = interpreter.evaluate(test ? iterable.lhs : iterable, scope)
  const list = given.value instanceof Map && given instanceof ObjectValue ? keysOf(given) : given
  if (!Array.isArray(list.value)) throw new Error(`Expected iterable or object type in for loop: got ${list.type}`)
  const items: Value[] = list.value
  spend(items.length)
  if (!test) return items
  const inner = newScope(scope)
  return items.filter((item) => {
    assign(loopvar, item, inner)
    return interpreter.evaluate(test, inner).__bool__().value
  })
}

const keysOf = (object: Value): Value => (object as Value & { keys(): Value }).keys()

function assign(loopvar: Node, item: Value, scope: Scope): void {
  if (loopvar.type === 'Identifier') {
    scope.setVariable(loopvar.value as string, item)
    return
  }
  if (loopvar.type !== 'TupleLiteral') throw new Error(`Invalid loop variable(s): ${loopvar.type}`)
  const names = loopvar.value as Node[]
  if (item.type !== 'ArrayValue') throw new Error(`Cannot unpack non-iterable type: ${item.type}`)
  const values = item.value as Value[]
  if (names.length !== values.length) {
    throw new Error(`Too ${names.length > values.length ? 'few' : 'many'} items to unpack`)
  }
  for (const [i, { type, value }] of names.entries()) {
    if (type !== 'Identifier') throw new Error(`Cannot unpack non-identifier type: ${type}`)
    scope.setVariable(value as string, values[i])
  }
}

function loopValue(items: readonly Value[], i: number): Value {
  const integer = (value: number) => new IntegerValue(value)
  const { length } = items
  return new ObjectValue(
    new Map([
      ['index', integer(i + 1)],
      ['index0', integer(i)],
      ['revindex', integer(length - i)],
      ['revindex0', integer(length - i - 1)],
      ['first', new BooleanValue(i === 0)],
      ['last', new BooleanValue(i === length - 1)],
      ['length', integer(length)],
      ['previtem', items[i - 1] ?? new UndefinedValue(undefined)],
      ['nextitem', items[i + 1] ?? new UndefinedValue(undefined)],
    ]),
  )
}
