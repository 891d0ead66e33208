import type { FormGroup } from '../../src/studio/api.js'
import { query, setQuery } from '../base/place.js'
import { Empty } from '../part/empty.js'
import { Search } from '../part/search.js'
import { checked, form, isBroken, tree } from './draft.js'
import { Field } from './field.js'
import { countSet, RecordFields } from './record-field.js'
import { fieldAt, foundFields, problemsBelow, resolvedAt } from './value-at.js'
import { at, keyOf } from './yaml-text.js'

/** Most keys that a search shows. */
const MOST = 60

/** The configuration as a form: what most runs set, everything by section, or what a search finds. */
export function FormView() {
  const search = query.value.search ?? ''
  const section = query.value.section ?? 'common'
  if (form.value === undefined) return <p class="loading">Reading the schema…</p>
  return (
    <section class="form" aria-label="Form">
      <div class="tools">
        <Search value={search} onInput={(next) => setQuery({ search: next })} label="search all keys" />
        {isBroken.value && <span class="bad">The YAML has a fault: mend it there first.</span>}
      </div>
      {search === '' && <Sections chosen={section} />}
      <div class="form-body">
        {search !== '' ? <Found search={search} /> : section === 'common' ? <Common /> : <Section name={section} />}
      </div>
    </section>
  )
}

function Sections({ chosen }: { chosen: string }) {
  const tops = form.value?.records.Config.fields.filter(
    ({ kind, item }) => kind === 'record' || item?.kind === 'record',
  )
  return (
    <nav class="chips" aria-label="Sections">
      {['common', 'general', ...(tops ?? []).map(({ key }) => key)].map((name) => {
        const bad = problemsBelow(checked.value?.problems ?? [], [name]).some(({ severity }) => severity === 'error')
        const count = countSet(at(tree.value, [name]))
        return (
          <button
            key={name}
            type="button"
            class={bad ? 'is-bad' : ''}
            aria-pressed={name === chosen}
            onClick={() => setQuery({ section: name === 'common' ? '' : name })}
          >
            {name.replaceAll('_', ' ')}
            {count > 0 && <small>{count}</small>}
          </button>
        )
      })}
    </nav>
  )
}

function Common() {
  const groups = form.value?.common.filter(isShown) ?? []
  return (
    <>
      {groups.map(({ title, keys }) => (
        <section key={title} class="common">
          <h2>{title}</h2>
          {keys.map((key) => {
            const found = fieldAt(form.value!, key)
            return found && <Field key={key} field={found.field} path={found.path} />
          })}
        </section>
      ))}
    </>
  )
}

function isShown({ schemas, when, unless }: FormGroup): boolean {
  const isThere = (key: string) => at(tree.value, key.split('.')) !== undefined
  if ((when !== undefined && !isThere(when)) || (unless !== undefined && isThere(unless))) return false
  const path = ['algorithm', 'algorithm_type']
  const name = at(tree.value, path) ?? resolvedAt(checked.value?.values, path)
  const schema = form.value?.choices.algorithms?.find((one) => one.name === name)?.schema ?? 'experience'
  return schemas === undefined || schemas.includes(schema)
}

function Section({ name }: { name: string }) {
  const top = form.value?.records.Config.fields.find(({ key }) => key === name)
  if (name === 'general') return <General />
  if (top === undefined) return <Empty title={`There is no section ${name}`} />
  if (top.kind !== 'record') return <Field field={top} path={[name]} />
  return (
    <>
      <p class="muted section-doc">{form.value?.records[top.record ?? '']?.doc}</p>
      <RecordFields record={top.record ?? ''} path={[name]} />
    </>
  )
}

/** The single values at the top. */
function General() {
  const singles = form.value?.records.Config.fields.filter(({ kind, item }) => kind !== 'record' && item === undefined)
  return (
    <>
      {singles?.map((field) => (
        <Field key={field.key} field={field} path={[field.key]} />
      ))}
    </>
  )
}

function Found({ search }: { search: string }) {
  const found = foundFields(form.value!, search)
  if (found.length === 0)
    return (
      <Empty title={`No key has “${search}”`}>
        <p>Keys inside lists (task sets, models) are in their sections.</p>
      </Empty>
    )
  return (
    <>
      {found.slice(0, MOST).map(({ field, path }) => (
        <Field key={keyOf(path)} field={field} path={path} isFound />
      ))}
      {found.length > MOST && <p class="muted">…and {found.length - MOST} more: search for more words.</p>}
    </>
  )
}
