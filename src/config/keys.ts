import type { RecordSpec } from './field.js'
import { config } from './section/config.js'

/** A key that a file may set, with the words it takes where they are few. */
export interface ConfigKey {
  readonly key: string
  readonly values?: readonly string[]
}

/** Every key, below lists and maps of free names excepted. */
export function keysOfConfig(): ConfigKey[] {
  return below(config as RecordSpec, '')
}

function below({ fields }: RecordSpec, path: string): ConfigKey[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const key = path === '' ? name : `${path}.${name}`
    if (field.kind === 'record' && field.record) return below(field.record as RecordSpec, key)
    return [{ key, values: field.kind === 'bool' ? ['true', 'false'] : field.values }]
  })
}
