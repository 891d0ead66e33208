import { command, isStarter } from './command.js'
import type { Cursor } from './cursor.js'
import { list, listItems, sum } from './expression.js'
import { type Node, type NumberNode, sequence } from './node.js'
import { add, compare, parseDecimal, rational } from './rational.js'
import type { Token } from './token.js'
import { isSeparatorWord, textPrimary, wordPrimary } from './word.js'

/** Whether what comes next can be multiplied to what came before without a sign. */
export function startsPrimary(cursor: Cursor): boolean {
  const token = cursor.next
  if (token === undefined) return false
  if (token.kind === 'op') {
    if (token.text === '|') return cursor.bars === 0
    return token.text === '(' || token.text === '{' || token.text === '['
  }
  if (token.kind === 'number') return cursor.ahead(-1)?.kind !== 'number'
  if (token.kind === 'command') return isStarter(token.text)
  return !isSeparatorWord(token.text)
}

/** `single`: an unbraced exponent, which is one letter of a word only. */
export function primary(cursor: Cursor, options: { single?: boolean } = {}): Node {
  const token = cursor.take()
  switch (token.kind) {
    case 'number':
      return numberPrimary(cursor, token)
    case 'word':
      return wordPrimary(cursor, token.text, options.single ?? false)
    case 'text':
      return textPrimary(cursor, token.text)
    case 'command':
      return command(cursor, token.text)
    default:
      return group(cursor, token.text)
  }
}

function group(cursor: Cursor, open: string): Node {
  const bars = cursor.bars
  cursor.bars = 0
  const node = cursor.nested(() => groupBody(cursor, open))
  cursor.bars = bars
  return node
}

function groupBody(cursor: Cursor, open: string): Node {
  if (open === '{') {
    const inner = list(cursor)
    cursor.expect('}')
    return inner
  }
  if (open === '\\{') {
    if (cursor.accept('\\}')) return { kind: 'named', name: 'empty' }
    const items = listItems(cursor)
    cursor.expect('\\}')
    return sequence('{', items, '}')
  }
  if (open === '|') {
    cursor.bars = 1
    const inner = sum(cursor)
    cursor.expect('|')
    return { kind: 'call', name: 'abs', items: [inner] }
  }
  if (open === '$') {
    const negative = cursor.accept('-')
    const size = primary(cursor)
    const value: Node = negative ? { kind: 'negate', item: size } : size
    return { kind: 'multiply', items: [value, { kind: 'symbol', name: 'dollar', unit: true }] }
  }
  if (open !== '(' && open !== '[') cursor.fail()
  const items = listItems(cursor)
  const close = cursor.accept(')') ? ')' : cursor.accept(']') ? ']' : cursor.fail()
  const matched = (open === '(') === (close === ')')
  if (items.length === 1 && matched) return items[0]!
  return sequence(open, items, close)
}

function numberNode(token: Token): NumberNode | undefined {
  const value = parseDecimal(token.text, token.repeating)
  if (value === undefined) return undefined
  const [mantissa = '', exponent] = token.text.toLowerCase().split('e')
  const point = mantissa.indexOf('.')
  if ((point < 0 && exponent === undefined) || token.repeating !== undefined) return { kind: 'number', value }
  return {
    kind: 'number',
    value,
    decimals: (point < 0 ? 0 : mantissa.length - point - 1) - Number(exponent ?? 0),
    significant: mantissa.replace('.', '').replace(/^0+/, '').length,
  }
}

function numberPrimary(cursor: Cursor, token: Token): Node {
  const node = numberNode(token)
  if (node === undefined) cursor.fail()
  if (cursor.isOp('_')) {
    cursor.at++
    const braced = cursor.accept('{')
    const base = cursor.take()
    if (base.kind !== 'number' || !/^\d{1,2}$/.test(base.text) || !/^\d+$/.test(token.text)) cursor.fail()
    if (braced) cursor.expect('}')
    return { kind: 'based', digits: token.text, base: Number(base.text) }
  }
  return mixed(cursor, node, token) ?? node
}

/** `2\frac{1}{4}` and `2 1/4`: a whole number before a proper fraction is added to it. */
function mixed(cursor: Cursor, whole: NumberNode, token: Token): Node | undefined {
  if (!/^\d+$/.test(token.text)) return undefined
  const texts: (string | undefined)[] = []
  let used = 0
  const read = (offset: number) => {
    const t = cursor.ahead(offset)
    return t?.kind === 'number' && /^\d+$/.test(t.text) && t.repeating === undefined ? t.text : undefined
  }
  if (cursor.isCommand('frac')) {
    used = 1
    for (let k = 0; k < 2; k++) {
      const braced = cursor.isOp('{', used)
      let text = read(used + (braced ? 1 : 0))
      if (braced && !cursor.isOp('}', used + 2)) text = undefined
      // \frac12: one digit each.
      if (!braced && text !== undefined && k === 0 && text.length === 2 && !cursor.isOp('{', used + 1)) {
        texts.push(text[0], text[1])
        used++
        break
      }
      if (!braced && text !== undefined && text.length > 1) text = undefined
      texts.push(text)
      used += braced ? 3 : 1
    }
  } else if (cursor.next?.spaced && cursor.isOp('/', 1)) {
    texts.push(read(0), read(2))
    used = 3
  }
  if (texts[0] === undefined || texts[1] === undefined) return undefined
  const fraction = rational(BigInt(texts[0]), BigInt(texts[1]))
  if (fraction === undefined || compare(fraction, { n: 1n, d: 1n }) >= 0) return undefined
  const value = add(whole.value, fraction)
  if (value === undefined) return undefined
  cursor.at += used
  return { kind: 'number', value }
}
