import type { Choice, ConfigProblem, Form, FormField, Json } from '../../src/studio/api.js'
import { at, keyOf, type Path, type Tree } from './yaml-text.js'

/** What a value that is left out becomes, as the check has resolved it. */
export function resolvedAt(values: Json | undefined, path: Path): Json | undefined {
  const value = jsonAt(values, path)
  if (value !== undefined) return value
  // a single task set becomes the only one of the list
  const single = path.indexOf('taskset')
  return single < 0 ? undefined : jsonAt(values, [...path.slice(0, single), 'tasksets', 0, ...path.slice(single + 1)])
}

function jsonAt(value: Json | undefined, path: Path): Json | undefined {
  return at(value as Tree, path) as Json | undefined
}

/** The problems at a key, and, of a section or list, those below it. */
export function problemsAt(problems: readonly ConfigProblem[], path: Path): ConfigProblem[] {
  const key = keyOf(path)
  return problems.filter((one) => one.key === key)
}

export function problemsBelow(problems: readonly ConfigProblem[], path: Path): ConfigProblem[] {
  const key = keyOf(path)
  return problems.filter((one) => one.key === key || one.key.startsWith(`${key}.`) || one.key.startsWith(`${key}[`))
}

/** The field that a dotted key leads to, and its path. */
export function fieldAt(form: Form, key: string): { field: FormField; path: string[] } | undefined {
  const path = key.split('.')
  let record = form.records.Config
  for (const [i, part] of path.entries()) {
    const field = record?.fields.find((one) => one.key === part)
    if (field === undefined) return undefined
    if (i === path.length - 1) return { field, path }
    record = form.records[field.record ?? '']
  }
  return undefined
}

/** Every key of the form that stands in no list, with its path: what a search looks through. */
export function allFields(
  form: Form,
  record = 'Config',
  path: readonly string[] = [],
): { field: FormField; path: string[] }[] {
  return form.records[record].fields.flatMap((field) => {
    const here = [...path, field.key]
    const own = { field, path: here }
    return field.kind === 'record' && field.record ? allFields(form, field.record, here) : [own]
  })
}

/** Keys whose name or description has all the words. */
export function foundFields(form: Form, search: string): { field: FormField; path: string[] }[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  const score = ({ path }: { path: string[] }) => (words.every((word) => path.at(-1)?.includes(word)) ? 0 : 1)
  return allFields(form)
    .filter(({ field, path }) => {
      const all = `${path.join('.')} ${field.doc} ${field.values?.join(' ') ?? ''}`.toLowerCase()
      return words.every((word) => all.includes(word))
    })
    .sort((a, b) => score(a) - score(b))
}

/** What a drop-down offers. */
export function choicesFor(form: Form, { choices, values }: FormField): readonly Choice[] {
  const own = (choices === undefined ? undefined : form.choices[choices]) ?? []
  const more = (values ?? []).filter((name) => !own.some((one) => one.name === name))
  return [...own, ...more.map((name) => ({ name }))]
}

/** A value as it reads in a field. */
export function words(value: Json | Tree | undefined): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  return Array.isArray(value) && value.every((one) => typeof one !== 'object')
    ? value.join(', ')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value)
}
