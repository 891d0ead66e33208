import type { Config } from '../../config/index.js'

type Value = null | boolean | number | string | Value[] | { [key: string]: Value }

const SECRET = /(^|_)(api_?key|access_?key|password|secret|token)$/i

/** The configuration as it may leave the machine: without keys and passwords. */
export function sharedConfig(config: Config): Record<string, Value> {
  return copy(config as unknown as Value) as Record<string, Value>
}

function copy(value: Value, key = ''): Value {
  if (typeof value === 'string') return SECRET.test(key) && value !== '' ? '***' : value
  if (Array.isArray(value)) return value.map((item) => copy(item, key))
  if (typeof value !== 'object' || value === null) return value ?? null
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, copy(item, name)]))
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
