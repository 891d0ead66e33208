import type { RecordSpec } from './field.js'
import { config } from './section/config.js'

let index: Map<string, string[]> | undefined

/** Where a key of this name stands in the configuration, nearest to the wrong place first. */
export function placeOf(key: string, wrong: string): string | undefined {
  index ??= indexOf(config, '', new Map())
  const places = index.get(key) ?? []
  return [...places].sort((a, b) => shared(b, wrong) - shared(a, wrong))[0]
}

function indexOf(spec: RecordSpec, path: string, out: Map<string, string[]>): Map<string, string[]> {
  for (const [key, field] of Object.entries(spec.fields)) {
    if (key === 'stages') continue
    const at = path === '' ? key : `${path}.${key}`
    out.set(key, [...(out.get(key) ?? []), at])
    if (field.record) indexOf(field.record, at, out)
  }
  return out
}

/** Length of the common beginning of two paths. */
function shared(a: string, b: string): number {
  const [left, right] = [a.split('.'), b.split('.')]
  let n = 0
  while (n < left.length && left[n] === right[n]) n++
  return n
}
