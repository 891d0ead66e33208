import type { ComponentChildren } from 'preact'
import type { ConfigProblem, FormField } from '../../src/studio/api.js'
import { ArgumentsField, DictField } from './dict-field.js'
import { checked, form, isBroken, removeValue, setValue, tree } from './draft.js'
import { ListField, MapField } from './group-field.js'
import { RecordField } from './record-field.js'
import { choicesFor, problemsAt, resolvedAt, words } from './value-at.js'
import { at, keyOf, type Path } from './yaml-text.js'

interface Props {
  readonly field: FormField
  readonly path: Path
  /** Among keys of all sections: with the section that it is in. */
  readonly isFound?: boolean
}

/** One key of the configuration, whatever it holds. */
export function Field({ field, path, isFound }: Props) {
  if (field.kind === 'record') return <RecordField field={field} path={path} />
  if (field.item?.kind === 'record' && field.kind === 'list') return <ListField field={field} path={path} />
  if (field.item?.kind === 'record' && field.kind === 'map') return <MapField field={field} path={path} />
  if (field.argsOf !== undefined) return <ArgumentsField field={field} path={path} />
  const isDict = field.kind === 'dict' || field.kind === 'map'
  const value = at(tree.value, path)
  const isNested = typeof value === 'object' && value !== null
  if (isDict || (field.kind === 'any' && isNested && !Array.isArray(value)))
    return <DictField field={field} path={path} />
  return <Row field={field} path={path} isFound={isFound} />
}

function Row({ field, path, isFound }: Props) {
  const value = at(tree.value, path)
  const key = keyOf(path)
  const id = `field-${key}`
  const problems = problemsAt(checked.value?.problems ?? [], path)
  const isBad = problems.some(({ severity }) => severity === 'error')
  return (
    <div class={`form-row ${value === undefined ? '' : 'is-set'} ${isBad ? 'is-bad' : ''}`}>
      <label for={id} title={key}>
        {path.at(-1)}
        {isFound && path.length > 1 && <small>{keyOf(path.slice(0, -1))}</small>}
      </label>
      <span class="control">
        <Control field={field} path={path} id={id} isBad={isBad} />
        {field.unit !== undefined && field.unit !== 'count' && <small class="unit">{field.unit}</small>}
        <button
          type="button"
          class="quiet unset"
          disabled={value === undefined || isBroken.value}
          aria-label={`leave out ${key}`}
          title="leave it out"
          onClick={() => removeValue(path)}
        >
          ×
        </button>
      </span>
      <Doc field={field} path={path} problems={problems} id={`${id}-doc`} />
    </div>
  )
}

function Doc({
  field,
  path,
  problems,
  id,
}: Omit<Props, 'isFound'> & { problems: readonly ConfigProblem[]; id: string }) {
  const value = at(tree.value, path) ?? resolvedAt(checked.value?.values, path)
  const chosen =
    field.choices === undefined || form.value === undefined
      ? undefined
      : choicesFor(form.value, field).find(({ name }) => name === value)?.doc
  return (
    <small class="doc" id={id}>
      {problems.map(({ severity, message, hint }) => (
        <span key={message} class={severity === 'error' ? 'bad' : severity === 'warning' ? 'warn' : ''}>
          {message}
          {hint && `: ${hint}`}{' '}
        </span>
      ))}
      {field.doc} {field.noEffect && <i class="warn">No effect: {field.noEffect}.</i>}{' '}
      {chosen && <i>{sentence(chosen)}</i>}
    </small>
  )
}

type ControlProps = Omit<Props, 'isFound'> & { readonly id: string; readonly isBad: boolean }

function Control({ field, path, id, isBad }: ControlProps) {
  const value = at(tree.value, path)
  const shown = words(value)
  const fallback = fallbackOf(field, path)
  const about = { id, disabled: isBroken.value, 'aria-invalid': isBad, 'aria-describedby': `${id}-doc` }
  const set = (text: string) => {
    if (text === '') removeValue(path)
    else if (field.kind === 'list') setValue(path, splitList(text))
    else setValue(path, text)
  }
  const choices = form.value === undefined ? [] : choicesFor(form.value, field)
  const options = field.kind === 'bool' ? [{ name: 'true' }, { name: 'false' }] : choices
  if (options.length > 0 && field.kind !== 'list') {
    const names = options.map(({ name }) => name)
    return (
      <select {...about} value={shown} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">{fallback === '' ? '–' : `– ${fallback}`}</option>
        {shown !== '' && !names.includes(shown) && <option value={shown}>{shown}</option>}
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    )
  }
  if (shown.includes('\n'))
    return <textarea {...about} rows={4} value={shown} onInput={(event) => set(event.currentTarget.value)} />
  const input = {
    ...about,
    autocomplete: 'off',
    value: shown,
    placeholder: fallback,
    onInput: (event: { currentTarget: HTMLInputElement }) => set(event.currentTarget.value),
  } as const
  if (field.isSecret) return <input type="password" {...input} />
  const mode = field.kind === 'int' ? 'numeric' : field.kind === 'float' ? 'decimal' : 'text'
  return <input type="text" spellcheck={false} inputMode={mode} {...input} />
}

/** What holds where nothing is said: as it was resolved, or in words. */
function fallbackOf(field: FormField, path: Path): string {
  const resolved = words(resolvedAt(checked.value?.values, path))
  if (resolved !== '' && at(tree.value, path) === undefined) return resolved
  return words(field.default) || (field.auto ?? '')
}

const sentence = (words: string) => `${words[0].toUpperCase()}${words.slice(1).replace(/\.$/, '')}.`

const splitList = (text: string) =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter((one, i, all) => one !== '' || i < all.length - 1)

/** A group of rows under a title that opens. */
export function Fold(props: {
  title: string
  doc?: string
  count: number
  bad: number
  isOpen: boolean
  onToggle: (isOpen: boolean) => void
  tools?: ComponentChildren
  children: () => ComponentChildren
}) {
  const { title, doc, count, bad, isOpen, onToggle, tools, children } = props
  return (
    <section class="fold">
      <div class="fold-head">
        <button type="button" class="quiet" aria-expanded={isOpen} onClick={() => onToggle(!isOpen)}>
          <i aria-hidden="true">{isOpen ? '▾' : '▸'}</i>
          <code>{title}</code>
          {count > 0 && <small class="tag">{count}</small>}
          {bad > 0 && <small class="tag bad">{bad}</small>}
        </button>
        <small class="muted cut">{doc}</small>
        {tools}
      </div>
      {isOpen && <div class="fold-body">{children()}</div>}
    </section>
  )
}
