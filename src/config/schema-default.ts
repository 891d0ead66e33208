import type { Field, RecordSpec } from './field.js'
import { config } from './section/config.js'
import { trainer } from './section/trainer.js'
import { trainerConfig } from './section/trainer-config.js'

const TREE: Field = trainer.fields.trainer_config

/** The default of the key at a path, or undefined when there is no such key. */
export function schemaDefault(path: readonly string[]): unknown {
  let spec: RecordSpec | undefined = config
  let field: Field | undefined
  for (const key of path) {
    if (!spec || !Object.hasOwn(spec.fields, key)) return undefined
    field = spec.fields[key]
    spec = field.kind === 'record' ? field.record : field === TREE ? trainerConfig : undefined
  }
  return field?.initial?.()
}
