import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { useKeys } from '../base/keys.js'
import { folders, runs, writes } from '../base/live.js'
import { go, linkTo, query, setQuery } from '../base/place.js'
import { Empty } from '../part/empty.js'
import { Search } from '../part/search.js'
import { choose, chosen } from './choice.js'
import { type Column, found, readOrder, sorted, writeOrder } from './order.js'
import { RunRow } from './row.js'

const HEADS: readonly { column: Column; label: string; title?: string }[] = [
  { column: 'state', label: 'State' },
  { column: 'name', label: 'Run' },
  { column: 'progress', label: 'Steps' },
  { column: 'reward', label: 'Reward' },
  { column: 'first', label: 'First', title: 'first evaluation' },
  { column: 'best', label: 'Best', title: 'best evaluation' },
  { column: 'last', label: 'Last', title: 'last evaluation' },
  { column: 'changed', label: 'Changed' },
]

export function Runs() {
  const search = query.value.search ?? ''
  const order = readOrder(query.value.sort)
  const shown = sorted(found(runs.value ?? [], search), order)
  const selected = useSignal(-1)
  // looked up when a key is pressed: the next one may come before this is drawn again
  const place = () => Math.min(selected.value, shown.length - 1)
  const at = place()
  const onSelected = (act: (id: string) => void) => () => {
    const run = shown[place()]
    if (run !== undefined) act(run.id)
  }
  const move = (by: number) => {
    selected.value = Math.max(0, Math.min(shown.length - 1, place() + by))
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: onSelected((id) => go(['runs', id, 'charts'])),
    x: onSelected(choose),
    c: () => chosen.value.length > 1 && go(['compare'], { runs: chosen.value.join(' ') }),
  })
  useEffect(() => {
    if (at >= 0) document.querySelector('tr.selected')?.scrollIntoView({ block: 'nearest' })
  }, [at])
  if (runs.value === undefined) return <p class="loading">Looking for runs…</p>
  if (runs.value.length === 0) return <NoRuns />
  const sortBy = (by: Column) =>
    setQuery({ sort: writeOrder({ by, isDown: order.by === by ? !order.isDown : by !== 'name' && by !== 'state' }) })
  return (
    <main class="page">
      <div class="tools">
        <h1>Runs</h1>
        <Search value={search} onInput={(text) => setQuery({ search: text })} label="search runs" />
        <span class="muted">
          {shown.length === runs.value.length ? `${shown.length}` : `${shown.length} of ${runs.value.length}`}
        </span>
        <span class="space" />
        <Comparison />
      </div>
      <div class="sheet">
        <table class="runs">
          <thead>
            <tr>
              <th class="choose">
                <span class="hidden">compare</span>
              </th>
              {HEADS.map(({ column, label, title }) => (
                <th
                  key={column}
                  class={column}
                  aria-sort={order.by !== column ? 'none' : order.isDown ? 'descending' : 'ascending'}
                >
                  <button type="button" class="head" onClick={() => sortBy(column)} title={title}>
                    {label}
                    <i aria-hidden="true">{order.by !== column ? '' : order.isDown ? '↓' : '↑'}</i>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((run, index) => (
              <RunRow key={run.id} run={run} isSelected={index === at} />
            ))}
          </tbody>
        </table>
      </div>
      {shown.length === 0 && (
        <Empty title={`No run has “${search}”`}>
          <button type="button" onClick={() => setQuery({ search: '' })}>
            Show all runs
          </button>
        </Empty>
      )}
    </main>
  )
}

function Comparison() {
  const ids = chosen.value
  return (
    <span class={`comparison ${ids.length === 0 ? 'unseen' : ''}`}>
      <span class="muted">{ids.length} selected</span>
      <button
        type="button"
        class="quiet"
        onClick={() => {
          chosen.value = []
        }}
      >
        Clear
      </button>
      {ids.length > 1 ? (
        <a class="button" href={linkTo(['compare'], { runs: ids.join(' ') })}>
          Compare
        </a>
      ) : (
        <span class="button off">Select one more</span>
      )}
    </span>
  )
}

function NoRuns() {
  return (
    <main class="page">
      <Empty title="No runs yet">
        <p>Studio looks below these folders:</p>
        <ul>
          {folders.value.map(({ path, problem }) => (
            <li key={path}>
              <code>{path}</code> {problem && <span class="bad">{problem}</span>}
            </li>
          ))}
        </ul>
        {writes.value && (
          <a class="button" href={linkTo(['new'])}>
            Write one
          </a>
        )}
        <p>Start one in a terminal, and it appears here:</p>
        <pre>trinity run --config examples/quickstart/quickstart.yaml</pre>
      </Empty>
    </main>
  )
}
