interface Props {
  readonly value: string
  readonly label: string
  readonly onInput: (text: string) => void
}

/** The field that `/` goes to. */
export function Search({ value, label, onInput }: Props) {
  return (
    <input
      type="search"
      class="search"
      data-search
      value={value}
      placeholder={`${label[0].toUpperCase()}${label.slice(1)}  /`}
      aria-label={label}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  )
}
