import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { MetricInfo, MetricList } from '../../src/studio/api.js'
import { number } from '../base/format.js'
import { useKeys } from '../base/keys.js'
import { runs } from '../base/live.js'
import { shortNames } from '../base/names.js'
import { go, linkTo, query, setQuery } from '../base/place.js'
import { runNames } from '../base/run-names.js'
import { seriesDot } from '../base/theme.js'
import { Badge } from '../part/badge.js'
import { ChartViewTools, zoom } from '../part/chart-view.js'
import { Empty } from '../part/empty.js'
import { Lazy } from '../part/lazy.js'
import { Search } from '../part/search.js'
import { chartsThatMatter, foundMetrics } from '../run/charts-that-matter.js'
import { SeriesStore } from '../run/series-store.js'
import { chosen } from '../runs/choice.js'
import { ConfigurationTable } from './configuration-table.js'
import { useEach } from './each.js'
import { OverlayChart } from './overlay-chart.js'

const MOST_FOUND = 60
const PATIENCE_MS = 3000

/** Runs over each other: their curves, their evaluations, and what was set differently. */
export function Compare() {
  const ids = (query.value.runs ?? '').split(' ').filter(Boolean)
  const key = ids.join(' ')
  const stores = useMemo(() => ids.map((id) => new SeriesStore(id)), [key])
  useEffect(() => () => stores.forEach((store) => void store.close()), [stores])
  // back in the table the same runs are selected
  useEffect(() => {
    chosen.value = ids
  }, [key])
  // no stream tells of several runs: those that go on are asked from time to time
  const steps = ids.map((id) => runs.value?.find((run) => run.id === id)?.progress.step).join(' ')
  const isWaiting = useRef(false)
  useEffect(() => {
    if (isWaiting.current) return
    isWaiting.current = true
    setTimeout(() => {
      isWaiting.current = false
      for (const store of stores) store.askAgain()
    }, PATIENCE_MS)
  }, [stores, steps])
  const lists = useEach<MetricList>(ids, 'metrics')
  useKeys({ 0: () => zoom(), u: () => go([]) })
  const search = query.value.search ?? ''
  const metrics = useMemo(() => together(lists), [lists])
  if (ids.length < 2)
    return (
      <Empty title="Two runs make a comparison">
        <p>Select them in the table of runs, by mouse or with j, k and x.</p>
        <a class="button" href={linkTo([])}>
          All runs
        </a>
      </Empty>
    )
  const names = ids.map((id) => runNames.value.get(id) ?? id)
  const labels = shortNames(names)
  const shown = search === '' ? titled(metrics) : searched(metrics, search)
  return (
    <main class="page">
      <h1 class="hidden">Compare</h1>
      <Legend ids={ids} names={names} />
      <div class="tools sticky">
        <Search value={search} onInput={(text) => setQuery({ search: text })} label="search metrics" />
        <span class="space" />
        <ChartViewTools />
      </div>
      <div class="charts">
        {shown.map(({ title, name }) => (
          <Lazy class="chart-place" key={name}>
            {() => <OverlayChart title={title} name={name} stores={stores} labels={labels} />}
          </Lazy>
        ))}
      </div>
      {search !== '' && shown.length === 0 && <Empty title={`No metric has “${search}”`} />}
      <ConfigurationTable ids={ids} names={labels} />
    </main>
  )
}

interface Shown {
  readonly title: string
  readonly name: string
}

/** The charts that matter, each with one metric: a line belongs to a run. */
const titled = (metrics: readonly MetricInfo[]): Shown[] =>
  chartsThatMatter(metrics).flatMap(({ title, names }) =>
    names.map((name) => ({ name, title: names.length === 1 ? title : name })),
  )

const searched = (metrics: readonly MetricInfo[], search: string): Shown[] =>
  foundMetrics(metrics, search)
    .flatMap(([, found]) => found.map(({ name }) => ({ name, title: name })))
    .slice(0, MOST_FOUND)

/** Metrics that any of the runs has. */
function together(lists: readonly (MetricList | undefined)[]): MetricInfo[] {
  const byName = new Map<string, MetricInfo>()
  for (const list of lists) for (const metric of list?.metrics ?? []) byName.set(metric.name, metric)
  return [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
}

function Legend({ ids, names }: { ids: readonly string[]; names: readonly string[] }) {
  const without = (id: string) => setQuery({ runs: ids.filter((other) => other !== id).join(' ') })
  return (
    <ul class="compared">
      {ids.map((id, index) => {
        const run = runs.value?.find((one) => one.id === id)
        return (
          <li key={id}>
            <i class={seriesDot(index)} />
            <a href={linkTo(['runs', id, 'charts'])}>{names[index]}</a>
            {run && <Badge state={run.state} />}
            <span class="muted">
              best <b class="figure">{number(run?.evaluation?.best.score)}</b>
            </span>
            <button type="button" class="quiet" onClick={() => without(id)} aria-label={`remove ${names[index]}`}>
              ✕
            </button>
          </li>
        )
      })}
    </ul>
  )
}
