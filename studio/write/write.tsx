import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { query, setQuery } from '../base/place.js'
import { refusalOf } from '../base/server.js'
import { Problem } from '../part/empty.js'
import { Actions } from './actions.js'
import { BeginView } from './begin-view.js'
import { beginWith, follow, from, problem, text } from './draft.js'
import { FormView } from './form-view.js'
import { PlanView } from './plan-view.js'
import { TextView } from './text-view.js'

const VIEWS = [
  ['form', 'Form'],
  ['yaml', 'YAML'],
  ['plan', 'Plan'],
] as const

/** A run is written: as a form and as YAML, always the same; what is wrong and what it would do stand beside. */
export function Write() {
  const isBeginning = useSignal(false)
  const isReading = useSignal(false)
  useEffect(() => follow(), [])
  const { run, copy, name, model } = query.value
  useEffect(() => {
    if (run === undefined) return
    setQuery({ run: '', copy: '', name: '', model: '' })
    const begun = () => {
      if (name !== undefined && model !== undefined) return beginWith.checkpoint(run, name, model)
      return copy === undefined ? beginWith.run(run) : beginWith.copy(run)
    }
    isReading.value = true
    begun()
      .catch((error: unknown) => {
        problem.value = refusalOf(error)
      })
      .finally(() => {
        isReading.value = false
      })
  }, [run])
  // what was written before would be overwritten, whatever somebody types into it meanwhile
  if (run !== undefined || isReading.value)
    return (
      <main class="page">
        <h1>New run</h1>
        <p class="loading">Reading the run…</p>
      </main>
    )
  const isEmpty = text.value === ''
  const view = query.value.view ?? 'form'
  if (isEmpty || isBeginning.value)
    return (
      <main class="page">
        <div class="tools">
          <h1>New run</h1>
          {!isEmpty && (
            <button
              type="button"
              class="quiet"
              onClick={() => {
                isBeginning.value = false
              }}
            >
              ← Back to what is written
            </button>
          )}
        </div>
        {problem.value !== undefined && <Problem problem={problem.value} />}
        <BeginView
          onDone={() => {
            isBeginning.value = false
          }}
        />
      </main>
    )
  return (
    <main class={`page write show-${view}`}>
      <div class="tools">
        <h1>New run</h1>
        <button
          type="button"
          class="quiet"
          title={from.value && `from ${from.value}`}
          onClick={() => {
            isBeginning.value = true
          }}
        >
          Begin with…
        </button>
        <span class="switch narrow-only">
          {VIEWS.map(([name, label]) => (
            <button key={name} type="button" aria-pressed={name === view} onClick={() => setQuery({ view: name })}>
              {label}
            </button>
          ))}
        </span>
        <span class="space" />
        <Actions />
      </div>
      <div class="write-grid">
        <FormView />
        <div class="write-text">
          <TextView />
          <PlanView />
        </div>
      </div>
    </main>
  )
}
