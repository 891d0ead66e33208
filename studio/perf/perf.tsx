import { useMemo } from 'preact/hooks'
import type { PerfReport } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { duration, moment, number } from '../base/format.js'
import { useKeys } from '../base/keys.js'
import { query, setQuery } from '../base/place.js'
import { Chart } from '../part/chart.js'
import { chartView, zoom } from '../part/chart-view.js'
import type { Curve } from '../part/curve.js'
import { Problem } from '../part/empty.js'
import { Lazy } from '../part/lazy.js'
import { Search } from '../part/search.js'
import { namesOf, resourceCharts, stepCurve } from './perf-curves.js'

/** A report of `trinity perf run`: cards, what each step was like, and what the machine was busy with. */
export function Perf() {
  const { answer, problem } = useAsked<PerfReport>('report').value
  if (problem !== undefined) return <Problem problem={problem} />
  if (answer === undefined) return <p class="loading">Reading…</p>
  const { run_meta: meta, status } = answer
  return (
    <main class="page">
      <div class="tools">
        <h1>Performance</h1>
        <span class="muted">
          {meta.config_path} · {meta.module} · {meta.hostname} · {moment(meta.generated_at)}
        </span>
      </div>
      {status.error !== null && (
        <pre class="failure" role="alert">
          {status.error}
        </pre>
      )}
      <Cards report={answer} />
      <Resources report={answer} />
      <Steps report={answer} />
    </main>
  )
}

function Cards({ report }: { report: PerfReport }) {
  const { timing, step_metrics: steps } = report
  const cards: [string, string][] = [
    ['Startup', duration(timing.startup_time_sec)],
    ['Execution', duration(timing.execution_time_sec)],
    ['Total', duration(timing.total_time_sec)],
    ['Steps', String(steps.length)],
    ['Prompt tokens/s', number(timing.prompt_tokens_per_second)],
    ['Response tokens/s', number(timing.response_tokens_per_second)],
  ]
  const calls: [string, number | null][] = [
    ['API prompt tokens/s', timing.api_call_prompt_tokens_per_second],
    ['API response tokens/s', timing.api_call_response_tokens_per_second],
  ]
  for (const [name, value] of calls) if (value !== null) cards.push([name, number(value)])
  return (
    <dl class="cards">
      {cards.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Resources({ report }: { report: PerfReport }) {
  const charts = useMemo(() => resourceCharts(report.resource_timeline), [report])
  const view = { smooth: 0, isLog: false, axis: 'time' } as const
  return (
    <section>
      <h2>What the run used</h2>
      <div class="charts">
        {charts.map(({ title, curves }) => (
          <div class="chart-place" key={title}>
            <Chart title={title} curves={curves} view={view} onZoom={() => undefined} />
          </div>
        ))}
      </div>
    </section>
  )
}

function Steps({ report }: { report: PerfReport }) {
  const search = query.value.search ?? ''
  const names = useMemo(() => namesOf(report.step_metrics, search), [report, search])
  useKeys({ 0: () => zoom() })
  return (
    <section>
      <h2>Steps</h2>
      <div class="tools">
        <Search value={search} onInput={(text) => setQuery({ search: text })} label="search metrics" />
        <span class="muted">{names.length}</span>
      </div>
      <div class="charts">
        {names.map((name) => (
          <Lazy class="chart-place" key={name}>
            {() => <StepChart name={name} report={report} />}
          </Lazy>
        ))}
      </div>
    </section>
  )
}

function StepChart({ name, report }: { name: string; report: PerfReport }) {
  const curves = useMemo((): Curve[] => [stepCurve(report.step_metrics, name)], [name, report])
  return <Chart title={name} curves={curves} view={{ ...chartView(), axis: 'step' }} onZoom={zoom} />
}
