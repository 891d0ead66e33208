import { computed, signal } from '@preact/signals'
import type { Sampling } from '../../src/studio/api.js'
import { numberOf } from '../base/place.js'

export const system = signal('')
export const isPlain = signal(false)
const texts = {
  temperature: signal('0.7'),
  topP: signal(''),
  topK: signal(''),
  maxTokens: signal('256'),
  seed: signal('0'),
  repetitionPenalty: signal(''),
}
type Name = keyof typeof texts

const FIELDS: readonly (readonly [name: Name, label: string, about: string])[] = [
  ['temperature', 'Temperature', '0: always the likeliest token'],
  ['topP', 'Top p', 'only tokens that make up this share'],
  ['topK', 'Top k', 'only so many of the likeliest'],
  ['maxTokens', 'Most tokens', 'of a reply'],
  ['seed', 'Seed', 'the same seed draws the same'],
  ['repetitionPenalty', 'Repetition', '1: no penalty'],
]

/** What was filled in, as far as it is a number. */
export const sampling = computed(
  (): Sampling =>
    Object.fromEntries(
      Object.entries(texts).flatMap(([name, text]) => {
        const value = numberOf(text.value)
        return value === undefined ? [] : [[name, value]]
      }),
    ),
)

/** How answers are drawn, the same for both sides. */
export function SamplingFields() {
  return (
    <>
      {FIELDS.map(([name, label, about]) => (
        <label key={name} title={about}>
          <span>{label}</span>
          <input
            type="text"
            inputMode="decimal"
            value={texts[name].value}
            placeholder="–"
            onInput={(event) => {
              texts[name].value = event.currentTarget.value
            }}
          />
        </label>
      ))}
      <label class="stacked">
        <span>Rules (system)</span>
        <textarea
          rows={4}
          value={system.value}
          disabled={isPlain.value}
          onInput={(event) => {
            system.value = event.currentTarget.value
          }}
        />
      </label>
      <label>
        <input
          type="checkbox"
          checked={isPlain.value}
          onChange={(event) => {
            isPlain.value = event.currentTarget.checked
          }}
        />
        Plain text, no chat
      </label>
    </>
  )
}
