import type { ModelChoice } from '../../src/studio/api.js'

interface Props {
  readonly models: readonly ModelChoice[]
  readonly value: string
  readonly label: string
  readonly onChange: (path: string) => void
  readonly none: string
}

/** Checkpoints by run, the newest first, then other models. */
export function ModelSelect({ models, value, label, onChange, none }: Props) {
  const runs = [...new Set(models.flatMap(({ run }) => run ?? []))]
  const others = models.filter(({ run }) => run === undefined)
  const isKnown = value === '' || models.some(({ path }) => path === value)
  return (
    <select aria-label={label} value={value} title={value} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{none}</option>
      {!isKnown && <option value={value}>{value}</option>}
      {runs.map((run) => {
        const own = models.filter((one) => one.run === run)
        return (
          <optgroup key={run} label={own[0].name.replace(/, (step \d+|before)$/, '')}>
            {own.map((one) => (
              <Option key={one.path} model={one} />
            ))}
          </optgroup>
        )
      })}
      {others.length > 0 && (
        <optgroup label="Models">
          {others.map((one) => (
            <Option key={one.path} model={one} />
          ))}
        </optgroup>
      )}
    </select>
  )
}

function Option({ model: { path, name, step, isBest, isOpen } }: { model: ModelChoice }) {
  const short = name.replace(/^.*, (step \d+|before)$/, '$1')
  return (
    <option value={path}>
      {step === undefined && short === 'before' ? 'before training' : short}
      {isBest && ' · best'}
      {isOpen && ' · in memory'}
    </option>
  )
}
