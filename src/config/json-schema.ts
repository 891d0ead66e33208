import type { Field, RecordSpec } from './field.js'
import { config } from './section/config.js'
import { trainerConfig } from './section/trainer-config.js'

type Schema = { [key: string]: unknown }

/** JSON Schema (draft 2020-12) of a configuration file, for editors. */
export function jsonSchema(): Schema {
  const records = new Map<string, Schema>()
  const root = recordSchema(config, records)
  const trainer = records.get('TrainerConfig') as { properties: Record<string, Schema> }
  trainer.properties.trainer_config = { ...refer(trainerConfig, records), description: trainerConfig.doc }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Trinity configuration',
    ...root,
    $defs: Object.fromEntries([...records].filter(([name]) => name !== 'Config')),
  }
}

function refer(spec: RecordSpec, records: Map<string, Schema>): Schema {
  if (!records.has(spec.name)) {
    records.set(spec.name, {})
    records.set(spec.name, recordSchema(spec, records))
  }
  return { $ref: `#/$defs/${spec.name}` }
}

function recordSchema(spec: RecordSpec, records: Map<string, Schema>): Schema {
  const required = Object.keys(spec.fields).filter((key) => !spec.fields[key].initial)
  return {
    type: 'object',
    description: spec.doc,
    properties: Object.fromEntries(
      Object.entries(spec.fields).map(([key, field]) => [key, fieldSchema(field, records)]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: spec.lenient === true,
  }
}

/** A `${...}` reference may stand wherever a value may. */
const REFERENCE: Schema = { type: 'string', pattern: '\\$\\{' }

function fieldSchema(field: Field, records: Map<string, Schema>): Schema {
  const choices = [valueSchema(field, records)]
  if (field.kind !== 'str' && field.kind !== 'any') choices.push(REFERENCE)
  if (field.nullable && field.kind !== 'any') choices.push({ type: 'null' })
  const shape = choices.length === 1 ? choices[0] : { anyOf: choices }
  const initial = field.kind === 'record' ? undefined : field.initial?.()
  return {
    ...shape,
    ...(field.doc && { description: field.auto ? `${field.doc} Left out: ${field.auto}.` : field.doc }),
    ...(initial !== undefined && initial !== null && { default: initial }),
    ...(field.derived && { readOnly: true }),
    ...(field.noEffect && { deprecated: true }),
  }
}

function valueSchema(field: Field, records: Map<string, Schema>): Schema {
  const range = {
    ...(field.min !== undefined && { minimum: field.min }),
    ...(field.max !== undefined && { maximum: field.max }),
  }
  switch (field.kind) {
    case 'int':
      return { type: 'integer', ...range }
    case 'float':
      return { type: 'number', ...range }
    case 'bool':
      return { type: 'boolean' }
    case 'str':
      return { type: ['string', 'number', 'boolean'] }
    case 'enum': {
      const words = { enum: [...(field.values ?? []), ...Object.keys(field.aliases ?? {})] }
      return field.accept ? { anyOf: [words, { type: 'string' }] } : words
    }
    case 'list':
      return { type: 'array', items: fieldSchema(field.item as Field, records) }
    case 'map':
      return { type: 'object', additionalProperties: fieldSchema(field.item as Field, records) }
    case 'dict':
      return { type: 'object' }
    case 'record':
      return refer(field.record as RecordSpec, records)
    default:
      return {}
  }
}
