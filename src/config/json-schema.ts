import { ALIASES } from './alias.js'
import type { Field, RecordSpec } from './field.js'
import { pathParts } from './node.js'
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
    properties: {
      ...olderKeys(spec),
      ...Object.fromEntries(Object.entries(spec.fields).map(([key, field]) => [key, fieldSchema(field, records)])),
    },
    ...(required.length > 0 && { required }),
    additionalProperties: spec.lenient === true,
  }
}

/** An editor strikes older names out and says what they are now; what they hold is checked by the program. */
function olderKeys(spec: RecordSpec): Record<string, Schema> {
  const older = ALIASES.filter((alias) => alias.in === spec.name).map(({ old, now, gone }): [string, Schema] => {
    const [first, ...rest] = pathParts(old)
    const description = rest.length > 0 ? 'Older form.' : now ? `Now ${now.replace('/', '')}.` : `No effect: ${gone}.`
    return [first, { deprecated: true, description }]
  })
  if (['TrainerInput', 'TrainerConfig', 'BufferConfig'].includes(spec.name)) {
    const description = 'Now a first stage with algorithm sft, or an auxiliary buffer.'
    for (const key of ['sft_warmup_dataset', 'sft_warmup_steps']) older.push([key, { deprecated: true, description }])
  }
  return Object.fromEntries(older)
}

/** A `${...}` reference may stand wherever a value may. */
const REFERENCE: Schema = { type: 'string', pattern: '\\$\\{' }

function fieldSchema(field: Field, records: Map<string, Schema>): Schema {
  const value = valueSchema(field, records)
  const choices = [...((value.anyOf as Schema[] | undefined) ?? [value])]
  if (field.kind !== 'str' && field.kind !== 'any') choices.push(REFERENCE)
  if (field.nullable && field.kind !== 'any') choices.push({ type: 'null' })
  const shape = choices.length === 1 ? choices[0] : { anyOf: choices }
  const initial = field.kind === 'record' ? undefined : field.initial?.()
  return {
    ...shape,
    ...(field.doc && { description: field.auto ? `${field.doc} Left out: ${field.auto}.` : field.doc }),
    ...(initial !== undefined && initial !== null && { default: initial }),
    ...(field.derived && { readOnly: true }),
    ...((field.secret === 'value' || field.secret === 'entries') && { writeOnly: true }),
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
      return orText({ type: 'integer', ...range }, '^[-+]?[0-9][0-9_]*$')
    case 'float':
      return orText({ type: 'number', ...range }, '^[-+]?([0-9][0-9_]*\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?$')
    case 'bool':
      return orText({ type: 'boolean' }, anyCase(['yes', 'no', 'on', 'off', 'true', 'false', '0', '1']))
    case 'str':
      return { type: ['string', 'number', 'boolean'] }
    case 'enum': {
      const words = [...(field.values ?? []), ...Object.keys(field.aliases ?? {})]
      return field.accept ? { anyOf: [{ enum: words }, { type: 'string' }] } : orText({ enum: words }, anyCase(words))
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

/** Values that the program also takes as text: `lr: 1e-6` is text to some readers of YAML. */
function orText(shape: Schema, pattern: string): Schema {
  return { anyOf: [shape, { type: 'string', pattern }] }
}

function anyCase(words: readonly string[]): string {
  const letters = (word: string) =>
    word
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replace(/[a-z]/gi, (one) => `[${one.toLowerCase()}${one.toUpperCase()}]`)
  return `^(${words.map(letters).join('|')})$`
}
