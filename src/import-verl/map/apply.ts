import type { Setting } from '../settings.js'
import type { Value } from '../value.js'
import { usesCritic } from './algorithm.js'
import { type Mapping, toBoolean, toNumber } from './mapping.js'
import { type Rule, ruleFor } from './table.js'

/** Writes a setting by its row of the table, unless a derived value has used it. */
export function applyRule(mapping: Mapping, setting: Setting, derived: Set<string>): void {
  const { key, value } = setting
  if (mapping.taken.has(key) || value === null) return
  const rule = ruleFor(key)
  if ('same' in rule) mapping.cover(key, rule.same)
  else if ('none' in rule) {
    const off = mapping.source.complete ? switchedOff(mapping, key, value) : undefined
    if (off) mapping.cover(key, off)
    else mapping.none(key, rule.none)
  } else if ('by' in rule) mapping.none(key, 'has no effect together with the other settings, or no counterpart')
  else if ('pass' in rule) passThrough(mapping, key, value, derived)
  else copy(mapping, key, value, rule)
}

/** A file that spells out every default lists much that is not in use; it would bury what really is missing. */
function switchedOff(mapping: Mapping, key: string, value: Value): string | undefined {
  if (
    value === false ||
    value === 0 ||
    value === '' ||
    (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  )
    return 'not in use'
  const parts = key.split('.')
  for (let length = parts.length - 1; length > 0; length--) {
    const parent = parts.slice(0, length).join('.')
    const flag = mapping.settings.get(`${parent}.enable`) ?? mapping.settings.get(`${parent}.enabled`)
    if (flag?.value === false) return `${parent} is switched off`
  }
  return undefined
}

function passThrough(mapping: Mapping, key: string, value: Value, derived: Set<string>): void {
  if (key.startsWith('critic.') && !usesCritic(mapping)) mapping.cover(key, 'this algorithm has no critic')
  else if (derived.has(key)) mapping.cover(key, 'veRL derives it from another key')
  else if (JSON.stringify(value).includes('${verl.unknown:'))
    mapping.none(key, 'its value is not known before the script runs')
  else {
    mapping.taken.add(key)
    mapping.draft.set(`trainer.trainer_config.${key}`, value, key)
  }
}

function copy(mapping: Mapping, key: string, value: Value, rule: Extract<Rule, { to: string }>): void {
  const converted = convert(mapping, key, value, rule.as)
  if (converted === undefined) {
    mapping.none(key, `its value is not a ${rule.as} known before the script runs`)
    return
  }
  mapping.taken.add(key)
  mapping.draft.set(rule.to.replace('*', key.split('.').at(-1)!), converted, key)
}

function convert(
  mapping: Mapping,
  key: string,
  value: Value,
  as: 'number' | 'boolean' | 'text' | 'value',
): Value | undefined {
  if (as === 'value') return JSON.stringify(value).includes('${verl.unknown:') ? undefined : value
  if (as === 'text') return mapping.text(key)
  const reference = typeof value === 'string' && /^\$\{oc\.env:\w+(,[^{}]*)?\}$/.test(value) ? value : undefined
  return (as === 'number' ? toNumber(value) : toBoolean(value)) ?? reference
}
