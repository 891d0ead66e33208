import { useSignal } from '@preact/signals'
import type { FormField } from '../../src/studio/api.js'
import { checked, form, tree } from './draft.js'
import { Field, Fold } from './field.js'
import { problemsBelow } from './value-at.js'
import { at, type Path, type Tree } from './yaml-text.js'

/** A section: open where something in it is set. */
export function RecordField({ field, path }: { field: FormField; path: Path }) {
  const value = at(tree.value, path)
  const isOpen = useSignal(value !== undefined)
  // inside of a list there is one of everything for each entry
  const Fields = path.some((part) => typeof part === 'number') ? BriefFields : RecordFields
  return (
    <Fold
      title={String(path.at(-1))}
      doc={field.doc}
      count={countSet(value)}
      bad={problemsBelow(checked.value?.problems ?? [], path).filter(({ severity }) => severity === 'error').length}
      isOpen={isOpen.value}
      onToggle={(next) => {
        isOpen.value = next
      }}
    >
      {() => <Fields record={field.record ?? ''} path={path} />}
    </Fold>
  )
}

/** What an entry of a list is mostly about. */
const MAIN = new Set(
  `stage_name name mode path split model_path engine_type engine_num tensor_parallel_size lora_rank lora_alpha args
  default_workflow_type workflow_args default_reward_fn_type repeat_times`.split(/\s+/),
)

/** The keys of an entry of a list: those that matter or are set, and the others when somebody asks. */
export function BriefFields({ record, path }: { record: string; path: Path }) {
  const isWhole = useSignal(false)
  const all = form.value?.records[record]?.fields.length ?? 0
  return (
    <>
      <RecordFields record={record} path={path} only={isWhole.value ? undefined : MAIN} />
      <button
        type="button"
        class="quiet"
        onClick={() => {
          isWhole.value = !isWhole.value
        }}
      >
        {isWhole.value ? 'Fewer keys' : `All ${all} keys`}
      </button>
    </>
  )
}

/** All keys of a record: single values first, sections below. Those without effect are shown where they are set. */
export function RecordFields({ record, path, only }: { record: string; path: Path; only?: ReadonlySet<string> }) {
  const fields = form.value?.records[record]?.fields ?? []
  const shown = fields.filter(
    ({ noEffect, key }) =>
      (noEffect === undefined && only?.has(key) !== false) || at(tree.value, [...path, key]) !== undefined,
  )
  const isSingle = (field: FormField) => field.kind !== 'record' && field.item?.kind !== 'record'
  return (
    <>
      {[...shown.filter(isSingle), ...shown.filter((one) => !isSingle(one))].map((field) => (
        <Field key={field.key} field={field} path={[...path, field.key]} />
      ))}
    </>
  )
}

/** Single values below a value. */
export function countSet(value: Tree | undefined): number {
  if (value === undefined) return 0
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value as { [key: string]: Tree }).reduce<number>((sum, one) => sum + countSet(one), 0)
}
