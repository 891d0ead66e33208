import type { ModelChoice } from '../../src/studio/api.js'
import { runNames } from '../base/run-names.js'
import { modelNames } from './model-names.js'

interface Props {
  readonly models: readonly ModelChoice[]
  readonly value: string
  readonly label: string
  readonly onChange: (path: string) => void
  readonly none: string
}

/** Checkpoints by run, the newest first, then other models. */
export function ModelSelect({ models, value, label, onChange, none }: Props) {
  const named = modelNames(models, runNames.value)
  const groups = [...new Set(named.map(({ group }) => group))]
  const isKnown = value === '' || models.some(({ path }) => path === value)
  return (
    <select aria-label={label} value={value} title={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{none}</option>
      {!isKnown && <option value={value}>{value}</option>}
      {groups.map((group) => (
        <optgroup key={group} label={group}>
          {named
            .filter((one) => one.group === group)
            .map(({ path, label }) => (
              <option key={path} value={path}>
                {label}
              </option>
            ))}
        </optgroup>
      ))}
    </select>
  )
}
