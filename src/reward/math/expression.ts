import type { Cursor } from './cursor.js'
import { type Node, type Relation, sequence } from './node.js'
import { primary, startsPrimary } from './primary.js'
import { isFunctionWord, isSeparatorWord, unitPhrase } from './word.js'

/** Items between commas, semicolons, "and", "or"; one item alone is itself. */
export function list(cursor: Cursor): Node {
  const items = listItems(cursor)
  return items.length === 1 ? items[0]! : sequence('', items, '')
}

export function listItems(cursor: Cursor): Node[] {
  return cursor.nested(() => {
    const items = [relation(cursor)]
    while (isSeparator(cursor)) {
      while (isSeparator(cursor)) cursor.at++
      if (cursor.next === undefined) break
      items.push(relation(cursor))
    }
    return items
  })
}

function isSeparator(cursor: Cursor): boolean {
  const token = cursor.next
  if (token === undefined) return false
  if (token.kind === 'op') return token.text === ',' || token.text === ';'
  return (token.kind === 'text' || token.kind === 'word') && isSeparatorWord(token.text)
}

const RELATIONS: Record<string, Relation> = {
  '=': '=',
  '<': '<',
  '>': '>',
  '<=': '<=',
  '>=': '>=',
  '!=': '!=',
  '≈': '~',
}

function relationHere(cursor: Cursor): Relation | undefined {
  const token = cursor.next
  if (token?.kind === 'op') return RELATIONS[token.text]
  return token?.kind === 'command' && token.text === 'in' ? 'in' : undefined
}

function relation(cursor: Cursor): Node {
  const ops: Relation[] = []
  const items: Node[] = []
  // "≈ 8.24" and "= 5" have nothing on the left.
  if (!cursor.accept('=') && cursor.accept('≈')) ops.push('~')
  items.push(setExpression(cursor))
  for (let op = relationHere(cursor); op !== undefined; op = relationHere(cursor)) {
    cursor.at++
    ops.push(op)
    items.push(setExpression(cursor))
  }
  return ops.length === 0 ? items[0]! : { kind: 'relation', ops, items }
}

const SET_OPS: Record<string, 'union' | 'intersection' | 'minus'> = {
  cup: 'union',
  cap: 'intersection',
  setminus: 'minus',
  backslash: 'minus',
}

function setExpression(cursor: Cursor): Node {
  let left = ratio(cursor)
  for (;;) {
    const token = cursor.next
    const op = token?.kind === 'command' ? SET_OPS[token.text] : undefined
    if (op === undefined) return left
    cursor.at++
    const right = ratio(cursor)
    if (left.kind === 'setop' && left.op === op && op !== 'minus') left.items.push(right)
    else left = { kind: 'setop', op, items: [left, right] }
  }
}

function ratio(cursor: Cursor): Node {
  const items = [sum(cursor)]
  while (cursor.accept(':')) items.push(sum(cursor))
  return items.length === 1 ? items[0]! : { kind: 'ratio', items }
}

export function sum(cursor: Cursor): Node {
  return cursor.nested(() => {
    const items = [signed(cursor)]
    while (isSign(cursor)) items.push(signed(cursor))
    return items.length === 1 ? items[0]! : { kind: 'add', items }
  })
}

function isSign(cursor: Cursor): boolean {
  return cursor.isOp('+') || cursor.isOp('-') || cursor.isCommand('pm') || cursor.isCommand('mp')
}

function signed(cursor: Cursor): Node {
  if (cursor.accept('+')) return cursor.nested(() => signed(cursor))
  if (cursor.accept('-')) return { kind: 'negate', item: cursor.nested(() => signed(cursor)) }
  if (cursor.isCommand('pm') || cursor.isCommand('mp')) {
    const sign = cursor.take().text === 'pm' ? 1 : -1
    return { kind: 'plusminus', sign, item: cursor.nested(() => signed(cursor)) }
  }
  return term(cursor)
}

function term(cursor: Cursor): Node {
  let left = power(cursor)
  for (;;) {
    if (cursor.accept('*')) left = product(left, unaryFactor(cursor))
    else if (cursor.isOp('/')) {
      cursor.at++
      const unit = endsWithUnit(left) ? unitPhrase(cursor, true) : undefined
      left = { kind: 'divide', left, right: unit ?? unaryFactor(cursor) }
    } else {
      const unit = unitPhrase(cursor, false)
      if (unit !== undefined) left = product(left, withPower(cursor, unit))
      else if (startsPrimary(cursor)) left = product(left, power(cursor))
      else return left
    }
  }
}

function endsWithUnit(node: Node): boolean {
  if (node.kind === 'symbol') return node.unit === true
  if (node.kind === 'multiply') return endsWithUnit(node.items[node.items.length - 1]!)
  if (node.kind === 'power') return endsWithUnit(node.left)
  return node.kind === 'divide' && endsWithUnit(node.right)
}

export function product(left: Node, right: Node): Node {
  if (left.kind === 'multiply') {
    left.items.push(right)
    return left
  }
  return { kind: 'multiply', items: [left, right] }
}

/** A factor after an operator may carry a sign: 2 * -3. */
function unaryFactor(cursor: Cursor): Node {
  if (cursor.accept('-')) return { kind: 'negate', item: cursor.nested(() => unaryFactor(cursor)) }
  return power(cursor)
}

export function power(cursor: Cursor): Node {
  return withPower(
    cursor,
    cursor.nested(() => primary(cursor)),
  )
}

function withPower(cursor: Cursor, base: Node): Node {
  let node = postfix(cursor, base)
  while (cursor.accept('^')) node = postfix(cursor, raised(cursor, node))
  return node
}

function raised(cursor: Cursor, base: Node): Node {
  const braced = cursor.isOp('{')
  const mark = cursor.ahead(braced ? 1 : 0)
  if (mark?.kind === 'command' && (mark.text === 'circ' || mark.text === 'prime')) {
    cursor.at += braced ? 1 : 0
    let primes = 0
    for (; cursor.isCommand(mark.text); cursor.at++) primes++
    if (braced) cursor.expect('}')
    return mark.text === 'circ' ? product(base, { kind: 'constant', name: 'degree' }) : primed(base, primes)
  }
  const right = cursor.nested(() => (cursor.isOp('{') ? primary(cursor) : exponent(cursor)))
  return { kind: 'power', left: base, right }
}

function exponent(cursor: Cursor): Node {
  if (cursor.accept('-')) return { kind: 'negate', item: cursor.nested(() => exponent(cursor)) }
  if (cursor.accept('+')) return cursor.nested(() => exponent(cursor))
  const base = primary(cursor, { single: true })
  // a^b^c is a^(b^c).
  if (!cursor.isOp('^')) return base
  cursor.at++
  return cursor.nested(() => raised(cursor, base))
}

function primed(base: Node, count: number): Node {
  if (base.kind === 'symbol') return { ...base, name: base.name + "'".repeat(count) }
  return product(base, { kind: 'symbol', name: count === 1 ? 'arcminute' : 'arcsecond', unit: true })
}

function postfix(cursor: Cursor, base: Node): Node {
  let node = base
  for (;;) {
    if (cursor.isOp('!')) {
      cursor.at++
      node = { kind: 'call', name: 'factorial', items: [node] }
    } else if (cursor.accept('%')) node = product(node, { kind: 'constant', name: 'percent' })
    else if (cursor.isOp("'") || cursor.isOp('"')) node = primed(node, cursor.take().text === '"' ? 2 : 1)
    else return node
  }
}

/** The argument of a function without brackets: `\sin 5x \cos x` is sin(5x)·cos(x). */
export function bareArgument(cursor: Cursor): Node {
  let node = power(cursor)
  while (startsPrimary(cursor) && !isFunctionWord(cursor) && !cursor.isOp('(')) node = product(node, power(cursor))
  return node
}
