import type { Settings } from './settings.js'
import { interpolationEnd, parseHydraValue, type Value } from './value.js'

const MAX_DEPTH = 20

/**
 * Replaces `${a.b}`, `${.b}` and `${oc.select:a.b,default}` in every setting by the value of the key they name.
 * `${oc.env:…}` stays (Trinity understands it); what cannot be resolved stays and is returned by key.
 * `derived` are the keys that were nothing but a reference: veRL computes them from others, so they say nothing new.
 */
export function resolveInterpolations(
  settings: Settings,
  defaults: Record<string, Value>,
): { open: Map<string, string>; derived: Set<string> } {
  const open = new Map<string, string>()
  const derived = new Set<string>()
  for (const setting of settings.values()) {
    const { value, raw, key } = setting
    if (typeof value !== 'object' && !(typeof value === 'string' && value.includes('${'))) continue
    if (
      typeof value === 'string' &&
      /^\$\{(?!oc\.env:|verl\.unknown:)/.test(value) &&
      interpolationEnd(value, 0) === value.length
    )
      derived.add(key)
    const resolved = resolve(value, key, settings, defaults, open, 0)
    setting.value = resolved
    setting.raw = typeof resolved === 'string' ? resolved : raw.includes('${') ? JSON.stringify(resolved) : raw
  }
  return { open, derived }
}

function resolve(
  value: Value,
  key: string,
  settings: Settings,
  defaults: Record<string, Value>,
  open: Map<string, string>,
  depth: number,
): Value {
  if (Array.isArray(value)) return value.map((item) => resolve(item, key, settings, defaults, open, depth))
  if (typeof value !== 'string' || !value.includes('${')) return value
  const pieces: Value[] = []
  for (let at = 0; at < value.length; ) {
    const start = value.indexOf('${', at)
    if (start !== at) {
      pieces.push(value.slice(at, start < 0 ? undefined : start))
      if (start < 0) break
    }
    const end = interpolationEnd(value, start)
    const whole = value.slice(start, end)
    pieces.push(end > start + 2 ? lookUp(whole, key, settings, defaults, open, depth) : whole)
    at = end
  }
  if (pieces.length === 1) return pieces[0]
  return pieces.map((piece) => (typeof piece === 'string' ? piece : JSON.stringify(piece))).join('')
}

function lookUp(
  whole: string,
  key: string,
  settings: Settings,
  defaults: Record<string, Value>,
  open: Map<string, string>,
  depth: number,
): Value {
  const inside = whole.slice(2, -1).trim()
  if (/^(oc\.env|verl\.unknown):/.test(inside)) return whole
  const select = /^oc\.select:\s*([^,]+)(?:,([\s\S]*))?$/.exec(inside)
  const path = select ? select[1].trim() : inside
  if (!/^\.*[A-Za-z_][\w.]*$/.test(path) || depth > MAX_DEPTH) {
    open.set(key, whole)
    return whole
  }
  const target = absolute(path, key)
  const found = settings.has(target)
    ? settings.get(target)!.value
    : Object.hasOwn(defaults, target)
      ? defaults[target]
      : undefined
  if (found !== undefined) return resolve(found, target, settings, defaults, open, depth + 1)
  if (select)
    return select[2] === undefined
      ? null
      : resolve(parseHydraValue(select[2]), key, settings, defaults, open, depth + 1)
  open.set(key, whole)
  return whole
}

/** `.x` is a sibling of the key, `..x` a sibling of its parent. */
function absolute(path: string, key: string): string {
  const dots = /^\.*/.exec(path)![0].length
  if (dots === 0) return path
  return [...key.split('.').slice(0, -dots), path.slice(dots)].filter((part) => part !== '').join('.')
}
