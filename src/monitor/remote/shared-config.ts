import type { Config } from '../../config/index.js'
import { concealed } from '../../config/secret.js'

type Value = null | boolean | number | string | Value[] | { [key: string]: Value }

/** The configuration as it may leave the machine: without keys and passwords. */
export function sharedConfig(config: Config): { [key: string]: Value } & Pick<Config, 'project' | 'group' | 'name'> {
  return plain(concealed(config) as unknown as Value) as never
}

/** What JSON cannot hold is null. */
function plain(value: Value | undefined): Value {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value ?? null
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]))
}

/** `algorithm.repeat_times` and so on; lists of plain values stay in one piece. */
export function flattened(value: Value, path = ''): [string, string][] {
  if (Array.isArray(value) && value.some((item) => typeof item === 'object' && item !== null)) {
    return value.flatMap((item, i) => flattened(item, `${path}.${i}`))
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return Object.entries(value).flatMap(([key, item]) => flattened(item, path === '' ? key : `${path}.${key}`))
  }
  return [[path, typeof value === 'string' ? value : JSON.stringify(value)]]
}
