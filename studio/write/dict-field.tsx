import { useSignal } from '@preact/signals'
import type { FormField } from '../../src/studio/api.js'
import { checked, form, isBroken, setValue, tree } from './draft.js'
import { Field } from './field.js'
import { choicesFor, problemsAt, resolvedAt } from './value-at.js'
import { at, keyOf, type Path, type Tree } from './yaml-text.js'

interface Props {
  readonly field: FormField
  readonly path: Path
}

/** The arguments of the function that is chosen beside them. */
export function ArgumentsField({ field, path }: Props) {
  const beside = [...path.slice(0, -1), field.argsOf ?? '']
  const chosen = at(tree.value, beside) ?? resolvedAt(checked.value?.values, beside)
  const chooser = siblingOf(field, path)
  const entry =
    form.value === undefined || chooser === undefined
      ? undefined
      : choicesFor(form.value, chooser).find(({ name }) => name === chosen)
  const known = entry?.args
  if (known?.length === 0 && at(tree.value, path) === undefined) return null
  if (chosen === undefined || chosen === null || chosen === '') return null
  return (
    <Entries
      field={field}
      path={path}
      known={known ?? []}
      title={`${field.argsOf}: ${chosen}`}
      mayAdd={known === undefined}
    />
  )
}

/** A map that may hold anything. */
export function DictField({ field, path }: Props) {
  return <Entries field={field} path={path} known={[]} mayAdd />
}

function Entries({
  field,
  path,
  known,
  title,
  mayAdd,
}: Props & { known: readonly FormField[]; title?: string; mayAdd: boolean }) {
  const value = at(tree.value, path)
  const given = typeof value === 'object' && value !== null ? Object.keys(value as { [key: string]: Tree }) : []
  const unknown = given.filter((key) => !known.some((one) => one.key === key))
  const problems = problemsAt(checked.value?.problems ?? [], path)
  return (
    <section class="group">
      <div class="group-head">
        <code title={keyOf(path)}>{path.at(-1)}</code>
        <small class="muted cut">{title ?? field.doc}</small>
      </div>
      {problems.map(({ message }) => (
        <small key={message} class="bad">
          {message}
        </small>
      ))}
      {known.map((one) => (
        <Field key={one.key} field={one} path={[...path, one.key]} />
      ))}
      {unknown.map((key) => (
        <Field key={key} field={{ key, kind: 'any', doc: '' }} path={[...path, key]} />
      ))}
      {mayAdd && <AddKey path={path} />}
    </section>
  )
}

function AddKey({ path }: { path: Path }) {
  const key = useSignal('')
  const value = useSignal('')
  const add = (event: Event) => {
    event.preventDefault()
    if (key.value === '') return
    setValue([...path, key.value], value.value)
    key.value = ''
    value.value = ''
  }
  return (
    <form class="add" onSubmit={add}>
      <input
        value={key.value}
        placeholder="key"
        aria-label={`new key of ${keyOf(path)}`}
        onInput={(event) => {
          key.value = event.currentTarget.value
        }}
      />
      <input
        value={value.value}
        placeholder="value"
        aria-label={`value of the new key of ${keyOf(path)}`}
        onInput={(event) => {
          value.value = event.currentTarget.value
        }}
      />
      <button type="submit" disabled={isBroken.value || key.value === ''}>
        Add
      </button>
    </form>
  )
}

/** The field that chooses: it stands beside the arguments, in the same record. */
function siblingOf(field: FormField, path: Path): FormField | undefined {
  const records = Object.values(form.value?.records ?? {})
  const own = records.find(({ fields }) => fields.some((one) => one.key === path.at(-1) && one.argsOf === field.argsOf))
  return own?.fields.find(({ key }) => key === field.argsOf)
}
