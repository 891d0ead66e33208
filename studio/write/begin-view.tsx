import { useSignal } from '@preact/signals'
import type { FileList, Place, Template, TemplateList } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { runs } from '../base/live.js'
import { runName } from '../base/run-names.js'
import { type Refusal, refusalOf } from '../base/server.js'
import { Refused } from '../part/refused.js'
import { Search } from '../part/search.js'
import { beginWith } from './draft.js'

const RECENT = 8

/** What to begin with. */
export function BeginView({ onDone }: { onDone: () => void }) {
  const failure = useSignal<Refusal | undefined>(undefined)
  const begin = (work: Promise<void>) =>
    void work.then(onDone, (error: unknown) => {
      failure.value = refusalOf(error)
    })
  return (
    <div class="begin">
      {failure.value && <Refused refusal={failure.value} />}
      <Examples onChoose={(name) => begin(beginWith.template(name))} />
      <div>
        <section class="card">
          <h2>From nothing</h2>
          <p class="muted">A few lines; the check says what is missing.</p>
          <button type="button" onClick={() => begin(beginWith.nothing())}>
            Begin
          </button>
        </section>
        <Files onChoose={(place) => begin(beginWith.file(place))} />
        <OldRuns onChoose={(id) => begin(beginWith.run(id))} />
        <Script onChoose={(script) => begin(beginWith.verl(script))} />
      </div>
    </div>
  )
}

function Examples({ onChoose }: { onChoose: (name: string) => void }) {
  const search = useSignal('')
  const { answer } = useAsked<TemplateList>('templates').value
  const words = search.value.toLowerCase()
  const found = (answer?.templates ?? []).filter(({ name, doc }) => `${name} ${doc}`.toLowerCase().includes(words))
  return (
    <section class="card">
      <h2>Like an example</h2>
      <Search
        value={search.value}
        onInput={(next) => {
          search.value = next
        }}
        label="search examples"
      />
      <ul class="choices">
        {order(found).map(({ name, doc }) => (
          <li key={name}>
            <button type="button" class="quiet" onClick={() => onChoose(name)}>
              <code>{name}</code>
              <small class="muted cut">{doc}</small>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The one that runs everywhere comes first, the many of a study last. */
function order(templates: readonly Template[]): Template[] {
  const rank = ({ name }: Template) => (name.startsWith('quickstart/q') ? 0 : name.startsWith('R3L/') ? 2 : 1)
  return [...templates].sort((a, b) => rank(a) - rank(b))
}

function Files({ onChoose }: { onChoose: (place: Place) => void }) {
  const { answer } = useAsked<FileList>('files').value
  if (answer === undefined || answer.files.length === 0) return null
  return (
    <section class="card">
      <h2>Go on with a file</h2>
      <ul class="choices few">
        {answer.files.map((place) => (
          <li key={`${place.folder}/${place.path}`}>
            <button type="button" class="quiet" title={place.folder} onClick={() => onChoose(place)}>
              <code>{place.path}</code>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

function OldRuns({ onChoose }: { onChoose: (id: string) => void }) {
  const recent = (runs.value ?? []).slice(0, RECENT)
  if (recent.length === 0) return null
  return (
    <section class="card">
      <h2>Like a run</h2>
      <ul class="choices">
        {recent.map((run) => (
          <li key={run.id}>
            <button type="button" class="quiet" title={run.path} onClick={() => onChoose(run.id)}>
              <code>{runName(run)}</code>
              <small class="muted cut">{run.algorithm}</small>
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

function Script({ onChoose }: { onChoose: (script: string) => void }) {
  const script = useSignal('')
  return (
    <section class="card">
      <h2>From veRL</h2>
      <p class="muted">A launch script, or its YAML. It is read, not run.</p>
      <textarea
        rows={6}
        value={script.value}
        spellcheck={false}
        aria-label="veRL script"
        placeholder="python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo …"
        onInput={(event) => {
          script.value = event.currentTarget.value
        }}
      />
      <button type="button" disabled={script.value.trim() === ''} onClick={() => onChoose(script.value)}>
        Import
      </button>
    </section>
  )
}
