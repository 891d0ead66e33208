import type { ScalarNode, ScalarType } from './node.js'

/**
 * How a plain (unquoted) YAML scalar is read: YAML 1.1 as the configurations in the field were written for, with two
 * differences: `1e-6` is a number, and a date stays text.
 */
export function plainScalar(text: string): { type: ScalarType; value: ScalarNode['value'] } {
  if (NULL.test(text)) return { type: 'null', value: null }
  if (TRUE.test(text)) return { type: 'bool', value: true }
  if (FALSE.test(text)) return { type: 'bool', value: false }
  if (INT.test(text)) return { type: 'int', value: Number(wholeOf(text)) }
  if (FLOAT.test(text)) return { type: 'float', value: floatOf(text) }
  return { type: 'str', value: text }
}

const NULL = /^(?:~|null|Null|NULL|)$/
const TRUE = /^(?:yes|Yes|YES|true|True|TRUE|on|On|ON)$/
const FALSE = /^(?:no|No|NO|false|False|FALSE|off|Off|OFF)$/
const INT = /^[-+]?(?:0b[01][01_]*|0[0-7_]+|0|[1-9][0-9_]*|0x[0-9a-fA-F][0-9a-fA-F_]*|[1-9][0-9_]*(?::[0-5]?[0-9])+)$/
const FLOAT =
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+|[-+]?\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/

/** Whether the text is an integer that a number cannot hold: it would become another one. */
export function losesDigits(text: string): boolean {
  if (!INT.test(text)) return false
  const whole = wholeOf(text)
  const value = Number(whole)
  return !Number.isFinite(value) || BigInt(value) !== whole
}

function wholeOf(text: string): bigint {
  const digits = text.replace(/[_+-]/g, '')
  const sign = text.startsWith('-') ? -1n : 1n
  if (digits.includes(':')) return sign * digits.split(':').reduce((sum, part) => sum * 60n + BigInt(part), 0n)
  return sign * BigInt(/^0[0-7]/.test(digits) ? `0o${digits}` : digits)
}

function floatOf(text: string): number {
  const digits = text.replaceAll('_', '').toLowerCase()
  if (digits.endsWith('.inf')) return digits.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  if (digits === '.nan') return Number.NaN
  if (digits.includes(':')) return (digits.startsWith('-') ? -1 : 1) * base60(digits.replace(/^[-+]/, ''))
  return Number(digits)
}

/** `12:30` is 12 × 60 + 30. */
function base60(digits: string): number {
  return digits.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)
}
