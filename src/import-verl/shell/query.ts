import { mentionsLaunch, NOT_LAUNCHERS } from './launch.js'
import { type ArrayLiteral, plainText, type Word } from './lexer.js'
import type { Node } from './syntax.js'

export const ASSIGNMENT = /^([A-Za-z_]\w*)(?:\[([^\]]*)\])?(\+?)=/

/** The unquoted text a word begins with. */
export function headOf(word: Word): string {
  const first = word.parts[0]
  return first?.kind === 'text' && !first.quoted ? first.text : ''
}

export function withoutHead(word: Word, length: number): Word {
  const [first, ...others] = word.parts
  const rest = first.kind === 'text' ? first.text.slice(length) : ''
  return { ...word, parts: rest === '' ? others : [{ kind: 'text', text: rest, quoted: false }, ...others] }
}

export function isAssignment(item: Word | ArrayLiteral): boolean {
  return item.kind === 'array' || ASSIGNMENT.test(headOf(item))
}

/** Whether a branch ends the script: the checks at the head of a script are taken to pass. */
export function stops(node: Node): boolean {
  return someSimple(node, (item) => ['exit', 'return'].includes(plainText(item) ?? ''))
}

/** Whether a branch starts a trainer; a command that only prints the launch does not. */
export function launchesIn(node: Node): boolean {
  return someSimple(
    node,
    (item, items) => mentionsLaunch(wordSource(item)) && !NOT_LAUNCHERS.has(plainText(items[0]) ?? ''),
  )
}

/** Whether a branch leaves a round of a loop. */
export function jumps(node: Node): boolean {
  return someSimple(
    node,
    (item, items) => item === items[0] && ['break', 'continue'].includes(plainText(items[0]) ?? ''),
  )
}

export function assigns(node: Node): boolean {
  return someSimple(node, isAssignment)
}

function someSimple(
  node: Node,
  holds: (item: Word | ArrayLiteral, items: (Word | ArrayLiteral)[]) => boolean,
): boolean {
  switch (node.type) {
    case 'simple':
      return node.items.some((item) => holds(item, node.items))
    case 'list':
    case 'pipe':
      return node.nodes.some((child) => someSimple(child, holds))
    case 'chain':
      return someSimple(node.left, holds) || someSimple(node.right, holds)
    case 'subshell':
      return someSimple(node.body, holds)
    case 'not':
      return someSimple(node.node, holds)
    case 'if':
      return (
        node.clauses.some((clause) => someSimple(clause.body, holds)) ||
        (node.otherwise !== undefined && someSimple(node.otherwise, holds))
      )
    case 'while':
    case 'for':
    case 'count':
      return someSimple(node.body, holds)
    case 'case':
      return node.clauses.some((clause) => someSimple(clause.body, holds))
    default:
      return false
  }
}

function wordSource(item: Word | ArrayLiteral): string {
  return item.kind === 'array' ? '' : item.parts.map((part) => (part.kind === 'text' ? part.text : part.body)).join('')
}
