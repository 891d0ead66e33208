import type { Field, RecordSpec } from './field.js'
import { config as spec } from './section/config.js'

/** A key whose value is not its default. */
export interface Difference {
  readonly key: string
  readonly value: unknown
  /** Absent where the key has none. */
  readonly default?: unknown
  readonly doc: string
}

/** What a configuration says that the schema does not say by itself, in order of the schema. */
export function differences(config: unknown): Difference[] {
  return inRecord(spec, config, '')
}

function inRecord(record: RecordSpec, value: unknown, path: string): Difference[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(record.fields).flatMap(([name, field]) => {
    const item = (value as Record<string, unknown>)[name]
    return item === undefined ? [] : inField(field, item, path === '' ? name : `${path}.${name}`)
  })
}

function inField(field: Field, value: unknown, key: string): Difference[] {
  if (field.derived) return []
  if (field.kind === 'record' && field.record && value !== null) return inRecord(field.record, value, key)
  if (field.kind === 'list' && field.item?.record && Array.isArray(value)) {
    const { record } = field.item
    return value.flatMap((one, i) => inRecord(record, one, `${key}[${i}]`))
  }
  const initial = field.initial?.()
  if (JSON.stringify(initial) === JSON.stringify(value)) return []
  return [{ key, value, ...(field.initial ? { default: initial } : {}), doc: field.doc }]
}
