import type { Field } from './field.js'
import type { Node, ScalarNode } from './node.js'

/** The value of a scalar as the field wants it, or why not. */
export type Converted = { ok: true; value: unknown; alias?: string } | { ok: false; expected: string }

/**
 * The conversions existing configurations rely on: `"5"` is an integer, 0 and 1 are booleans, numbers become text
 * where text is wanted; `2.0` is no integer and a boolean is no number.
 */
export function convert(field: Field, node: ScalarNode): Converted {
  switch (field.kind) {
    case 'int':
      return inRange(field, toInt(node), 'an integer')
    case 'float':
      return inRange(field, toFloat(node), 'a number')
    case 'bool':
      return toBool(node)
    case 'str':
      return { ok: true, value: toText(node) }
    case 'enum':
      return toWord(field, toText(node))
    default:
      return { ok: false, expected: describe(field) }
  }
}

function toInt(node: ScalarNode): number | undefined {
  if (node.type === 'int') return Number.isSafeInteger(node.value) ? (node.value as number) : undefined
  if (node.type !== 'str') return undefined
  const text = (node.value as string).trim()
  if (!/^[-+]?[0-9]+(?:_[0-9]+)*$/.test(text)) return undefined
  const value = Number(text.replaceAll('_', ''))
  return Number.isSafeInteger(value) ? value : undefined
}

function toFloat(node: ScalarNode): number | undefined {
  if (node.type === 'int' || node.type === 'float') return node.value as number
  if (node.type !== 'str') return undefined
  const text = (node.value as string).trim().replaceAll('_', '')
  if (/^[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/.test(text)) return Number(text)
  const infinite = /^([-+]?)inf(?:inity)?$/i.exec(text)
  return infinite ? (infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY) : undefined
}

function toBool(node: ScalarNode): Converted {
  if (node.type === 'bool') return { ok: true, value: node.value }
  if (node.type === 'int') return { ok: true, value: node.value !== 0 }
  if (node.type === 'str') {
    const word = (node.value as string).trim().toLowerCase()
    if (['yes', 'on', 'true', '1'].includes(word)) return { ok: true, value: true }
    if (['no', 'off', 'false', '0'].includes(word)) return { ok: true, value: false }
  }
  return { ok: false, expected: 'true or false' }
}

function toText(node: ScalarNode): string {
  if (node.type === 'bool') return node.value ? 'True' : 'False'
  return node.type === 'str' ? (node.value as string) : node.text
}

/** A word of the field's set in any case, an alias of one, `EnumName.WORD`, or what `accept` takes. */
function toWord(field: Field, text: string): Converted {
  const values = field.values ?? []
  if (values.includes(text)) return { ok: true, value: text }
  const word = text
    .trim()
    .toLowerCase()
    .replace(/^[a-z]+\./, '')
  const same = values.find((value) => value.toLowerCase() === word)
  if (same !== undefined) return { ok: true, value: same }
  const alias = field.aliases?.[word]
  if (alias !== undefined) return { ok: true, value: alias, alias: text }
  const accepted = field.accept?.(text)
  if (accepted !== undefined) return { ok: true, value: accepted, alias: accepted === text ? undefined : text }
  const open = field.openText ? `, or ${field.openText}` : ''
  return { ok: false, expected: `one of ${values.join(', ')}${open}` }
}

function inRange(field: Field, value: number | undefined, kind: string): Converted {
  if (value === undefined || Number.isNaN(value)) return { ok: false, expected: kind }
  // no key has a use for them, and 1e400 for 1e-4 is soon typed
  if (!Number.isFinite(value)) return { ok: false, expected: 'a finite number' }
  if (field.min !== undefined && value < field.min) return { ok: false, expected: `${kind}, at least ${field.min}` }
  if (field.max !== undefined && value > field.max) return { ok: false, expected: `${kind}, at most ${field.max}` }
  return { ok: true, value }
}

export function describe(field: Field): string {
  switch (field.kind) {
    case 'list':
      return 'a list'
    case 'record':
    case 'map':
    case 'dict':
      return 'a map of keys'
    case 'int':
      return 'an integer'
    case 'float':
      return 'a number'
    case 'bool':
      return 'true or false'
    case 'enum':
      return `one of ${(field.values ?? []).join(', ')}`
    default:
      return 'text'
  }
}

/** What was found, in words. */
export function found(node: Node): string {
  if (node.kind === 'list') return 'a list'
  if (node.kind === 'map') return 'a map'
  if (node.type === 'null') return 'nothing (null)'
  const text = node.text.length > 60 ? `${node.text.slice(0, 57)}...` : node.text
  return node.type === 'str' ? `'${text}'` : text
}
