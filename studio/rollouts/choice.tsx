import { setQuery } from '../base/place.js'

interface ChoiceProps {
  readonly name: string
  readonly label: string
  readonly value: string
  readonly options: readonly string[]
  readonly words: Readonly<Record<string, string>>
}

/** One of several values of a key in the address. */
export function Choice({ name, label, value, options, words }: ChoiceProps) {
  return (
    <label>
      <span class="hidden">{label}</span>
      <select value={value} onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value })}>
        {options.map((option) => (
          <option key={option} value={option}>
            {words[option] ?? option.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
    </label>
  )
}
