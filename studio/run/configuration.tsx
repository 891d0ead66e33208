import type { ConfigDifference, Json, RunConfig } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { stale } from '../base/live.js'
import { query, setQuery } from '../base/place.js'
import { runPath } from '../base/server.js'
import { Empty, Problem } from '../part/empty.js'
import { Search } from '../part/search.js'
import { Yaml } from '../part/yaml.js'

export function Configuration({ id }: { id: string }) {
  const { answer, problem } = useAsked<RunConfig>(runPath(id, 'config'), {}, stale.config.value).value
  const search = query.value.search ?? ''
  if (problem !== undefined) return <Problem problem={problem} />
  if (answer === undefined) return <p class="loading">Reading…</p>
  if (answer.yaml === undefined && answer.changed.length === 0)
    return (
      <Empty title="This run did not record its configuration">
        {answer.missing.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </Empty>
    )
  const changed = answer.changed.filter(({ key, doc }) => `${key} ${doc}`.toLowerCase().includes(search.toLowerCase()))
  return (
    <>
      <div class="tools">
        <Search value={search} onInput={(text) => setQuery({ search: text })} label="search keys" />
        <span class="muted">{answer.source}</span>
      </div>
      <div class="halves">
        <section>
          <h2>Differs from the defaults</h2>
          <Changed changed={changed} />
          {answer.plan.map(({ title, lines }) => (
            <details key={title} class="plan">
              <summary>{title}</summary>
              <pre>{lines.join('\n')}</pre>
            </details>
          ))}
          {answer.missing.map((line) => (
            <p key={line} class="note">
              {line}
            </p>
          ))}
        </section>
        <section>
          <h2>Everything, as it was resolved</h2>
          {answer.yaml === undefined ? <p class="muted">Not recorded.</p> : <Yaml text={answer.yaml} />}
        </section>
      </div>
    </>
  )
}

function Changed({ changed }: { changed: readonly ConfigDifference[] }) {
  if (changed.length === 0) return <p class="muted">Nothing.</p>
  return (
    <dl class="changed-keys">
      {changed.map(({ key, value, default: usual, doc }) => (
        <div key={key}>
          <dt>
            <code>{key}</code>
          </dt>
          <dd>
            <code class="value">{valueText(value)}</code>
            {isSaid(usual) && <span class="muted"> instead of {valueText(usual)}</span>}
            {doc !== undefined && <small class="muted">{doc}</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** A default that is empty says nothing. */
const isSaid = (value: Json | undefined) => value !== undefined && value !== null && value !== ''

export const valueText = (value: Json | undefined) =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
