import { query, setQuery } from '../base/place.js'
import { Search } from '../part/search.js'
import { Choice } from './choice.js'
import { FILTER_KEYS, isFiltered, ORDERS } from './filter.js'

const FAILURES = [
  '',
  'none',
  'any',
  'timeout',
  'workflow_error',
  'environment_error',
  'engine_error',
  'reward_error',
  'invalid_reward',
  'prompt_too_long',
  'no_response',
  'cancelled',
]
const FAILURE_WORDS: Record<string, string> = { '': 'failed or not', none: 'not failed', any: 'failed' }

export function FilterTools() {
  const clear = () => setQuery(Object.fromEntries(FILTER_KEYS.map((key) => [key, ''])))
  return (
    <div class="tools filters">
      <Search
        value={query.value.text ?? ''}
        onInput={(text) => setQuery({ text })}
        label="search prompts and answers"
      />
      <Choice name="order" label="Order" value={query.value.order ?? 'newest'} options={ORDERS} words={{}} />
      <Field name="task" label="task" />
      <Range name="step" />
      <Range name="reward" />
      <Range name="version" />
      <Choice
        name="failure"
        label="Failure"
        value={query.value.failure ?? ''}
        options={FAILURES}
        words={FAILURE_WORDS}
      />
      <button type="button" class="quiet" disabled={!isFiltered(query.value)} onClick={clear}>
        Clear
      </button>
    </div>
  )
}

function Field({ name, label }: { name: string; label: string }) {
  return (
    <label class="field">
      {label}
      <input
        class="short"
        value={query.value[name] ?? ''}
        onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value.trim() })}
      />
    </label>
  )
}

function Range({ name }: { name: string }) {
  const part = (end: 'Min' | 'Max') => (
    <input
      class="tiny"
      inputMode="decimal"
      placeholder={end === 'Min' ? 'from' : 'to'}
      aria-label={`${name} ${end === 'Min' ? 'from' : 'to'}`}
      value={query.value[`${name}${end}`] ?? ''}
      onChange={({ currentTarget }) => setQuery({ [`${name}${end}`]: currentTarget.value.trim() })}
    />
  )
  return (
    <span class="field">
      {name} {part('Min')}
      {part('Max')}
    </span>
  )
}
