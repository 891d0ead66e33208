import { nearest } from '../base/nearest.js'
import { convert, describe, found } from './convert.js'
import { type Dict, defaultsOf, type Field, type Fields, type Infer, type RecordSpec } from './field.js'
import { type Entry, type MapNode, type Node, plain } from './node.js'
import { placeOf } from './place.js'
import type { Problems } from './problem.js'
import { losesDigits } from './scalar.js'

/** Checks a map against a record: the typed value with every default filled in, and all problems. */
export function validate<F extends Fields>(spec: RecordSpec<F>, node: MapNode, problems: Problems, path = '') {
  return checkRecord(spec, node, path, problems) as Infer<RecordSpec<F>>
}

/** Only what was written, converted: for trees whose defaults belong to somebody else. */
export function validateSparse(spec: RecordSpec, node: MapNode, problems: Problems, path: string): Dict {
  return checkRecord(spec, node, path, problems, true)
}

function checkRecord(spec: RecordSpec, node: MapNode, path: string, problems: Problems, sparse = false): Dict {
  const value: Dict = sparse ? {} : defaultsOf(spec)
  const extra: [string, unknown][] = []
  for (const [key, entry] of node.entries) {
    const field = Object.hasOwn(spec.fields, key) ? spec.fields[key] : undefined
    const at = join(path, key)
    if (field) value[key] = check(field, entry.node, at, problems, sparse)
    else {
      unknown(spec, key, at, entry, problems)
      if (spec.lenient) extra.push([key, free(entry.node, at, problems)])
    }
  }
  for (const [key, field] of Object.entries(spec.fields)) {
    if (!sparse && !field.initial && !node.entries.has(key)) {
      problems.error('missing', join(path, key), `required: ${field.doc}`, node.mark)
    }
  }
  return extra.length === 0 ? value : { ...value, ...Object.fromEntries(extra) }
}

function unknown(spec: RecordSpec, key: string, at: string, { mark, node }: Entry, problems: Problems): void {
  const fitting = Object.keys(spec.fields).filter((name) => isContainer(spec.fields[name]) === (node.kind === 'map'))
  const near = nearest(key, fitting) ?? nearest(key, Object.keys(spec.fields))
  const elsewhere = near ? undefined : placeOf(key, at)
  const known = `known here: ${Object.keys(spec.fields).join(', ')}`
  const hint = near ? `did you mean ${near}?` : elsewhere ? `did you mean ${elsewhere}?` : known
  if (spec.lenient) problems.warn('unknown-key', at, 'unknown key, passed on unchanged', mark, near && hint)
  else problems.error('unknown-key', at, 'unknown key', mark, hint)
}

function isContainer(field: Field): boolean {
  return field.kind === 'record' || field.kind === 'map' || field.kind === 'dict'
}

function check(field: Field, node: Node, path: string, problems: Problems, sparse: boolean): unknown {
  const fallback = () => field.initial?.() ?? null
  const wrong = (expected: string) => {
    const hint = node.kind === 'scalar' && node.type === 'null' && field.kind === 'record' ? EMPTY_SECTION : undefined
    problems.error('type', path, `expected ${expected}, found ${shown(field, node)}`, node.mark, hint)
    return fallback()
  }
  if (node.kind === 'scalar' && node.failed) return fallback()
  if (node.kind === 'scalar' && node.type === 'null') {
    if (field.nullable) return null
    return wrong(describe(field))
  }
  switch (field.kind) {
    case 'any':
      return free(node, path, problems)
    case 'dict':
      return node.kind === 'map' ? free(node, path, problems) : wrong(describe(field))
    case 'record':
      if (node.kind !== 'map') return wrong(describe(field))
      return checkRecord(field.record as RecordSpec, node, path, problems, sparse)
    case 'list':
      if (node.kind !== 'list') return wrong(describe(field))
      return node.items.map((item, i) => check(field.item as Field, item, `${path}[${i}]`, problems, sparse))
    case 'map':
      if (node.kind !== 'map') return wrong(describe(field))
      return Object.fromEntries(
        [...node.entries].map(([key, entry]) => {
          return [key, check(field.item as Field, entry.node, join(path, key), problems, sparse)]
        }),
      )
    default: {
      if (node.kind !== 'scalar') return wrong(describe(field))
      const result = convert(field, node)
      if (!result.ok) {
        const near = field.values && nearest(node.text, field.values)
        const text = `expected ${result.expected}, found ${shown(field, node)}`
        problems.error('value', path, text, node.mark, near && `did you mean ${near}?`)
        return fallback()
      }
      if (result.alias !== undefined) problems.note('alias', path, `${result.alias} means ${result.value}`, node.mark)
      return result.value
    }
  }
}

/** A value whose type nothing says: as written, or not at all. */
function free(node: Node, path: string, problems: Problems): unknown {
  const visit = (inner: Node, at: string): void => {
    if (inner.kind === 'list') inner.items.forEach((item, i) => void visit(item, `${at}[${i}]`))
    else if (inner.kind === 'map') for (const [key, entry] of inner.entries) visit(entry.node, join(at, key))
    else if (inner.type === 'int' && losesDigits(inner.text)) {
      problems.error('value', at, 'this integer has more digits than a number holds', inner.mark, DIGITS)
    }
  }
  visit(node, path)
  return plain(node)
}

const DIGITS = 'in quotes it keeps them, as a text'

/** What was found, in words that give no secret away. */
function shown(field: Field, node: Node): string {
  const isSecret = node.kind === 'scalar' && node.type !== 'null' && (field.secret !== undefined || node.shown)
  return isSecret ? 'something else (not shown: it is secret)' : found(node)
}

const EMPTY_SECTION = 'an empty section is written {}, or left out'

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}
