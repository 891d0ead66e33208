import { useSignal } from '@preact/signals'
import type { FormField } from '../../src/studio/api.js'
import { checked, form, isBroken, removeValue, setValue, tree } from './draft.js'
import { Fold } from './field.js'
import { BriefFields, countSet } from './record-field.js'
import { problemsBelow } from './value-at.js'
import { at, keyOf, type Path, type Tree } from './yaml-text.js'

interface Props {
  readonly field: FormField
  readonly path: Path
}

/** A list of sections: task sets, evaluation sets, auxiliary models, operators, stages. */
export function ListField({ field, path }: Props) {
  const value = at(tree.value, path)
  const items = Array.isArray(value) ? (value as readonly Tree[]) : []
  const record = field.item?.record ?? ''
  const add = () => {
    const key = nameKey(record)
    setValue([...path, items.length], {
      [key]: key === 'path' ? '' : `${singular(String(path.at(-1)))}_${items.length}`,
    })
  }
  return (
    <Group field={field} path={path}>
      {items.map((item, i) => (
        <Item key={i} record={record} path={[...path, i]} item={item} />
      ))}
      <button type="button" onClick={add} disabled={isBroken.value}>
        Add {singular(String(path.at(-1))).replaceAll('_', ' ')}
      </button>
    </Group>
  )
}

/** Sections by name. */
export function MapField({ field, path }: Props) {
  const value = at(tree.value, path)
  const items = typeof value === 'object' && value !== null ? Object.entries(value as { [key: string]: Tree }) : []
  const name = useSignal('')
  const record = field.item?.record ?? ''
  const add = (event: Event) => {
    event.preventDefault()
    if (name.value === '') return
    setValue([...path, name.value], { [nameKey(record)]: '' })
    name.value = ''
  }
  return (
    <Group field={field} path={path}>
      {items.map(([key, item]) => (
        <Item key={key} record={record} path={[...path, key]} item={item} />
      ))}
      <form class="add" onSubmit={add}>
        <input
          value={name.value}
          placeholder="name"
          aria-label={`name of a new entry of ${keyOf(path)}`}
          onInput={(event) => {
            name.value = event.currentTarget.value
          }}
        />
        <button type="submit" disabled={isBroken.value || name.value === ''}>
          Add
        </button>
      </form>
    </Group>
  )
}

function Group({ field, path, children }: Props & { children: preact.ComponentChildren }) {
  return (
    <section class="group">
      <div class="group-head">
        <code title={keyOf(path)}>{path.at(-1)}</code>
        <small class="muted cut">{field.doc}</small>
      </div>
      {children}
    </section>
  )
}

function Item({ record, path, item }: { record: string; path: Path; item: Tree }) {
  const isOpen = useSignal(true)
  const { name, stage_name, path: where, model_path } = (typeof item === 'object' ? item : {}) as Record<string, Tree>
  const title = [stage_name, name, where, model_path].find((one) => typeof one === 'string' && one !== '')
  return (
    <Fold
      title={String(title ?? path.at(-1))}
      count={countSet(item)}
      bad={problemsBelow(checked.value?.problems ?? [], path).filter(({ severity }) => severity === 'error').length}
      isOpen={isOpen.value}
      onToggle={(next) => {
        isOpen.value = next
      }}
      tools={
        <button
          type="button"
          class="quiet"
          disabled={isBroken.value}
          onClick={() => removeValue(path)}
          aria-label={`remove ${keyOf(path)}`}
        >
          Remove
        </button>
      }
    >
      {() => <BriefFields record={record} path={path} />}
    </Fold>
  )
}

/** The key that a new entry begins with. */
function nameKey(record: string): string {
  const keys = form.value?.records[record]?.fields.map(({ key }) => key) ?? []
  return ['stage_name', 'name', 'path'].find((key) => keys.includes(key)) ?? keys[0] ?? 'name'
}

const singular = (text: string) => text.replace(/s$/, '')
