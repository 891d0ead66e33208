import type { Json } from '../../src/studio/api.js'

/** `{a: {b: 1}}` as `a.b` → 1. Lists are values: their entries have no names. */
export function flatten(value: Json | undefined, path = ''): Map<string, Json> {
  if (value === undefined) return new Map()
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return new Map([[path, value]])
  const entries = Object.entries(value)
  if (entries.length === 0) return new Map(path === '' ? [] : [[path, {}]])
  return new Map(entries.flatMap(([key, inner]) => [...flatten(inner, path === '' ? key : `${path}.${key}`)]))
}

export interface Difference {
  readonly key: string
  /** One for each configuration; undefined: it does not have the key. */
  readonly values: readonly (Json | undefined)[]
}

/** Keys whose values are not the same in all configurations, in order of name. */
export function differences(configs: readonly (Json | undefined)[]): Difference[] {
  const flat = configs.map((config) => flatten(config))
  const keys = [...new Set(flat.flatMap((values) => [...values.keys()]))].sort()
  return keys
    .map((key) => ({ key, values: flat.map((values) => values.get(key)) }))
    .filter(({ values }) => new Set(values.map((value) => JSON.stringify(value))).size > 1)
}
