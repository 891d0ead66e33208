import { useMemo } from 'preact/hooks'
import type { MetricList, Series, SeriesAnswer } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { count } from '../base/format.js'
import { useKeys } from '../base/keys.js'
import { detail } from '../base/live.js'
import { query, setQuery } from '../base/place.js'
import { runPath } from '../base/server.js'
import { Chart } from '../part/chart.js'
import { ChartViewTools, chartView, zoom } from '../part/chart-view.js'
import { type Curve, isSparse } from '../part/curve.js'
import { Empty, Problem } from '../part/empty.js'
import { Lazy } from '../part/lazy.js'
import { Search } from '../part/search.js'
import { chartsThatMatter, foundMetrics } from './charts-that-matter.js'
import type { SeriesStore } from './series-store.js'

const FINER_POINTS = 2000

export function Charts({ store }: { store: SeriesStore }) {
  // new metrics appear with an evaluation or with the first step of a role
  const again = `${detail.value?.evaluations.length} ${Math.min(2, detail.value?.progress.step ?? 0)}`
  const asked = useAsked<MetricList>(runPath(store.run, 'metrics'), {}, again)
  const { answer, problem } = asked.value
  const search = query.value.search ?? ''
  useKeys({ 0: () => zoom() })
  const charts = useMemo(() => chartsThatMatter(answer?.metrics ?? []), [answer])
  const groups = useMemo(() => foundMetrics(answer?.metrics ?? [], search), [answer, search])
  if (problem !== undefined) return <Problem problem={problem} />
  if (answer !== undefined && answer.metrics.length === 0)
    return (
      <Empty title="No numbers yet">
        <p>They appear with the first step. With monitor_type “none” a run writes none.</p>
      </Empty>
    )
  return (
    <>
      <div class="tools sticky">
        <Search value={search} onInput={(text) => setQuery({ search: text })} label="search metrics" />
        <span class="muted">{answer && `${count(answer.metrics.length)} metrics`}</span>
        <span class="space" />
        <ChartViewTools />
      </div>
      {search === '' && (
        <div class="charts">
          {charts.map(({ title, names, empty }) => (
            <Lazy class="chart-place" key={title}>
              {() => <MetricChart title={title} names={names} empty={empty} store={store} />}
            </Lazy>
          ))}
        </div>
      )}
      {groups.map(([group, metrics]) => (
        <details key={group} class="group" open={search !== ''}>
          <summary>
            {group} <span class="muted">{metrics.length}</span>
          </summary>
          <div class="charts">
            {metrics.map(({ name, role }) => (
              <Lazy class="chart-place" key={`${role} ${name}`}>
                {() => <MetricChart title={name} names={[name]} store={store} />}
              </Lazy>
            ))}
          </div>
        </details>
      ))}
      {search !== '' && groups.length === 0 && (
        <Empty title={`No metric has “${search}”`}>
          <button type="button" onClick={() => setQuery({ search: '' })}>
            Show the charts that matter
          </button>
        </Empty>
      )}
    </>
  )
}

/** Where steps of a long run were put together, those that one has zoomed into come one by one. */
function useFiner(run: string, whole: readonly (Series | undefined)[]): readonly Series[] | undefined {
  const { axis, from, to } = chartView()
  const names = whole.flatMap((one) => (one?.low === undefined ? [] : [one.name]))
  const isZoomed = axis === 'step' && from !== undefined && to !== undefined && names.length > 0
  const range = isZoomed && { name: names, from: Math.floor(from), to: Math.ceil(to), points: FINER_POINTS }
  const { answer } = useAsked<SeriesAnswer>(range ? runPath(run, 'series') : undefined, range || {}).value
  return isZoomed ? answer?.series : undefined
}

interface MetricChartProps {
  readonly title: string
  readonly names: readonly string[]
  readonly empty?: string
  readonly store: SeriesStore
}

function MetricChart({ title, names, empty, store }: MetricChartProps) {
  const whole = names.map((name) => store.of(name).value)
  const finer = useFiner(store.run, whole)
  const series = whole.map((one) => finer?.find(({ name }) => name === one?.name) ?? one)
  const curves = useMemo(
    (): Curve[] =>
      series.flatMap((one, colorIndex) =>
        one === undefined
          ? []
          : [{ label: one.name, colorIndex, step: one.step, time: one.time, y: one.y, isSparse: isSparse(one.name) }],
      ),
    series,
  )
  const isComing = names.length > 0 && curves.length === 0
  return <Chart title={title} curves={curves} view={chartView()} onZoom={zoom} empty={isComing ? 'Loading…' : empty} />
}
