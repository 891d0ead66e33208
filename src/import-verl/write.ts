import { stringify } from 'yaml'
import type { Branch, Draft, Item, Leaf } from './draft.js'
import type { Value } from './value.js'

/** The draft as YAML text, with the comments at the ends of the lines. */
export function writeYaml(draft: Draft): string {
  const lines: string[] = []
  // Single values (project, name, mode) stand above the sections, whenever they were set.
  const isSection = (node: Leaf | Branch | Item[]) => 'children' in node
  const entries = [...draft.root.children].sort((a, b) => Number(isSection(a[1])) - Number(isSection(b[1])))
  for (const [name, node] of entries) {
    if ('children' in node && isEmpty(node)) continue
    if ('children' in node && lines.length > 0) lines.push('')
    writeEntry(lines, name, node, '')
  }
  return `${lines.join('\n')}\n`
}

function isEmpty(node: Branch): boolean {
  return (
    [...node.children.values()].every((child) => 'children' in child && isEmpty(child)) && node.remarks.length === 0
  )
}

function writeEntry(lines: string[], name: string, node: Leaf | Branch | Item[], indent: string): void {
  const key = scalar(name)
  if (Array.isArray(node)) {
    lines.push(`${indent}${key}:`)
    for (const item of node) writeItem(lines, item, `${indent}  `)
  } else if ('children' in node) {
    if (isEmpty(node)) return
    const hasChildren = [...node.children.values()].some((child) => !('children' in child) || !isEmpty(child))
    lines.push(hasChildren ? `${indent}${key}:` : `${indent}# ${key}:`)
    writeBranch(lines, node, `${indent}  `)
  } else {
    lines.push(`${indent}${key}: ${inline(node.value, false)}${commentOf(node.comment)}`)
  }
}

function writeBranch(lines: string[], node: Branch, indent: string): void {
  for (const remark of node.remarks) for (const line of remark.split('\n')) lines.push(`${indent}# ${clean(line)}`)
  for (const [name, child] of node.children) writeEntry(lines, name, child, indent)
}

function writeItem(lines: string[], item: Item, indent: string): void {
  const own: string[] = []
  writeBranch(own, { children: item.children, remarks: [] }, '')
  own.forEach((line, index) => void lines.push(`${indent}${index === 0 ? '- ' : '  '}${line}`))
  for (const remark of item.remarks) lines.push(`${indent}  # ${clean(remark)}`)
}

function commentOf(comment: string | undefined): string {
  return comment ? `  # ${clean(comment)}` : ''
}

/** A comment must stay on its line whatever the script had in it. */
export function clean(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to take out
  return text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029\ufeff]+/g, ' ').trimEnd()
}

function inline(value: Value, inFlow: boolean): string {
  if (Array.isArray(value)) return `[${value.map((inner) => inline(inner, true)).join(', ')}]`
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).map(([key, inner]) => `${scalar(key, true)}: ${inline(inner, true)}`)
    return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
  }
  return scalar(value, inFlow)
}

function scalar(value: null | boolean | number | string, inFlow = false): string {
  if (typeof value === 'number') return numberText(value)
  if (typeof value !== 'string') return String(value)
  // `${oc.env:HOME}/x` is a plain scalar in block style; inside [ ] and { } its braces and commas need quotes.
  if (
    /^[\w./$:@-][\w ./${}:@+=~-]*$/.test(value) &&
    !(inFlow && /[{}]/.test(value) && !/^\$\{oc\.env:\w+\}[\w./-]*$/.test(value))
  ) {
    const plain = stringify(value, { lineWidth: 0 }).trimEnd()
    if (!plain.startsWith('|') && !plain.startsWith('>')) return plain
  }
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** `1e-6` rather than `0.000001`: learning rates as people write them. */
function numberText(value: number): string {
  if (Number.isNaN(value)) return '.nan'
  if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf'
  const size = Math.abs(value)
  return size !== 0 && size < 1e-3 ? value.toExponential() : String(value)
}
