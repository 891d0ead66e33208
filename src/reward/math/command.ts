import type { Cursor } from './cursor.js'
import { bareArgument, listItems, sum } from './expression.js'
import { type Node, whole } from './node.js'
import { primary } from './primary.js'
import { FUNCTION_NAMES, FUNCTIONS } from './vocabulary.js'
import { applied, letters, subscripted } from './word.js'

/** Commands that stand between values, or that we do not read. */
const NOT_STARTERS = new Set('in cup cap setminus backslash pm mp rfloor rceil end circ prime notin'.split(' '))
const UNREADABLE = new Set(
  (
    'int iint oint sum prod lim to implies iff Rightarrow rightarrow Leftrightarrow mapsto mod pmod bmod equiv dots ldots cdots ' +
    'vdots forall exists notin choose stackrel underbrace overbrace parallel perp'
  ).split(' '),
)

export function isStarter(name: string): boolean {
  return !NOT_STARTERS.has(name)
}

export function command(cursor: Cursor, name: string): Node {
  const fn = FUNCTION_NAMES[name] ?? name
  if (FUNCTIONS.has(fn)) return functionCall(cursor, fn)
  switch (name) {
    case 'frac':
      return { kind: 'divide', left: macroArgument(cursor), right: macroArgument(cursor) }
    case 'binom':
      return { kind: 'call', name: 'binomial', items: [macroArgument(cursor), macroArgument(cursor)] }
    case 'sqrt':
      return root(cursor)
    case 'pi':
      return { kind: 'constant', name: 'pi' }
    case 'infty':
      return { kind: 'constant', name: 'infinity' }
    case 'lfloor':
    case 'lceil':
      return floorOrCeil(cursor, name === 'lfloor')
    case 'emptyset':
      return { kind: 'named', name: 'empty' }
    case 'mathbb':
      return numberSet(cursor)
    case 'boxed':
    case 'fbox':
      return primary(cursor)
    case 'begin':
      return matrix(cursor)
    case 'angle':
    case 'triangle':
    case 'overline':
    case 'bar':
    case 'vec':
    case 'hat':
    case 'widehat':
    case 'tilde':
    case 'dot':
    case 'ddot':
      return { kind: 'symbol', name: `${name} ${letters(cursor)}` }
  }
  if (UNREADABLE.has(name) || NOT_STARTERS.has(name)) cursor.fail()
  return applied(cursor, subscripted(cursor, name))
}

/** `\frac12` takes one digit each; otherwise a group or the next thing. */
function macroArgument(cursor: Cursor): Node {
  const token = cursor.next
  if (token?.kind === 'number' && /^\d{2,}$/.test(token.text)) {
    cursor.tokens[cursor.at] = { ...token, text: token.text.slice(1) }
    return whole(Number(token.text[0]))
  }
  if (token?.kind === 'word' && token.text.length > 1) {
    cursor.tokens[cursor.at] = { ...token, text: token.text.slice(1) }
    return { kind: 'symbol', name: token.text[0]! }
  }
  return cursor.nested(() => primary(cursor))
}

export function root(cursor: Cursor): Node {
  let degree: Node = whole(2)
  if (cursor.accept('[')) {
    degree = sum(cursor)
    cursor.expect(']')
  }
  const radicand = cursor.nested(() => primary(cursor, { single: true }))
  return { kind: 'power', left: radicand, right: { kind: 'divide', left: whole(1), right: degree } }
}

export function functionCall(cursor: Cursor, name: string): Node {
  let base: Node | undefined
  let exponent: Node | undefined
  for (let k = 0; k < 2; k++) {
    if (cursor.accept('_')) base = cursor.nested(() => primary(cursor, { single: true }))
    if (cursor.accept('^')) exponent = cursor.nested(() => signedPrimary(cursor))
  }
  const bracket = cursor.isOp('(') || cursor.isOp('{') || cursor.isOp('[')
  const argument = cursor.nested(() => (bracket ? primary(cursor) : bareSigned(cursor)))
  const items = base === undefined ? [argument] : [argument, base]
  const inverse = exponent?.kind === 'negate' && exponent.item.kind === 'number' && exponent.item.value.n === 1n
  if (inverse && /^(sin|cos|tan)$/.test(name)) return { kind: 'call', name: `arc${name}`, items }
  const call: Node = { kind: 'call', name, items }
  return exponent === undefined ? call : { kind: 'power', left: call, right: exponent }
}

function signedPrimary(cursor: Cursor): Node {
  if (cursor.accept('-')) return { kind: 'negate', item: primary(cursor, { single: true }) }
  return primary(cursor, { single: true })
}

function bareSigned(cursor: Cursor): Node {
  if (cursor.accept('-')) return { kind: 'negate', item: bareArgument(cursor) }
  return bareArgument(cursor)
}

function floorOrCeil(cursor: Cursor, isFloor: boolean): Node {
  const inner = sum(cursor)
  if (!cursor.isCommand(isFloor ? 'rfloor' : 'rceil')) cursor.fail()
  cursor.at++
  return { kind: 'call', name: isFloor ? 'floor' : 'ceil', items: [inner] }
}

const SETS: Record<string, 'reals' | 'integers' | 'naturals' | 'rationals' | 'complex'> = {
  R: 'reals',
  Z: 'integers',
  N: 'naturals',
  Q: 'rationals',
  C: 'complex',
}

function numberSet(cursor: Cursor): Node {
  const name = SETS[letters(cursor)]
  return name === undefined ? cursor.fail() : { kind: 'named', name }
}

const MATRICES = new Set(['matrix', 'pmatrix', 'bmatrix', 'Bmatrix', 'array', 'smallmatrix'])

function matrix(cursor: Cursor): Node {
  const environment = letters(cursor)
  if (!MATRICES.has(environment)) cursor.fail()
  // The column specification of an array.
  if (environment === 'array' && cursor.isOp('{')) letters(cursor)
  const rows: Node[][] = [[]]
  for (;;) {
    if (cursor.isCommand('end')) break
    if (cursor.accept('\\\\')) rows.push([])
    else if (cursor.accept('&')) continue
    else rows[rows.length - 1]!.push(cell(cursor))
  }
  cursor.at++
  if (letters(cursor) !== environment) cursor.fail()
  const filled = rows.filter((row) => row.length > 0)
  if (filled.length === 0) cursor.fail()
  return { kind: 'matrix', rows: filled }
}

function cell(cursor: Cursor): Node {
  const items = listItems(cursor)
  return items.length === 1 ? items[0]! : cursor.fail()
}
