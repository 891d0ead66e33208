import type { Registry } from '../../base/registry.js'
import type { Field, RecordSpec } from '../../config/field.js'
import type { Catalog } from '../../config/index.js'
import { config } from '../../config/section/config.js'
import { trainerConfig } from '../../config/section/trainer-config.js'
import type { WorkflowEntry } from '../../workflow/workflow.js'
import type { Form, FormField, FormRecord, Json } from '../api.js'
import { choicesOf, chooserOf, listOf } from './choices.js'
import { COMMON } from './common.js'
import { unitOf } from './unit.js'

/** The form of a configuration: every key of the schema, with what is registered. */
export function formOf(catalog: Catalog, workflows: Registry<WorkflowEntry>, plugins: readonly string[]): Form {
  const records = new Map<string, FormRecord>()
  addRecord(config, records)
  return { records: Object.fromEntries(records), common: COMMON, choices: choicesOf(catalog, workflows), plugins }
}

function addRecord(spec: RecordSpec, records: Map<string, FormRecord>): string {
  if (records.has(spec.name)) return spec.name
  // before its fields: a record may hold itself
  records.set(spec.name, { doc: spec.doc, fields: [] })
  const fields = Object.entries(spec.fields).flatMap(([key, field]) =>
    field.derived ? [] : [fieldOf(key, field, spec.name, records)],
  )
  records.set(spec.name, { doc: spec.doc, fields })
  return spec.name
}

function fieldOf(key: string, field: Field, record: string, records: Map<string, FormRecord>): FormField {
  // a tree of another program: the schema keeps what it knows of it apart
  const inner = record === 'TrainerConfig' && key === 'trainer_config' ? trainerConfig : field.record
  const initial = field.kind === 'record' ? undefined : field.initial?.()
  return {
    key,
    kind: inner ? 'record' : field.kind,
    doc: field.doc,
    ...(initial !== undefined && initial !== null && !inner && { default: initial as Json }),
    auto: field.auto,
    unit: unitOf(field),
    values: field.values,
    ...(field.accept && { isOpen: true }),
    choices: listOf(record, key),
    argsOf: chooserOf(record, key),
    ...(field.item && { item: fieldOf('', field.item, record, records) }),
    ...(inner && { record: addRecord(inner, records) }),
    ...((field.secret === 'value' || field.secret === 'entries') && { isSecret: true }),
    noEffect: field.noEffect,
  }
}
