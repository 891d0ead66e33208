import { useEffect } from 'preact/hooks'
import type { Session } from '../src/studio/api.js'
import { useKeys } from './base/keys.js'
import { listen, report, trouble, writes } from './base/live.js'
import { go, linkTo, place } from './base/place.js'
import { get } from './base/server.js'
import { nextTheme } from './base/theme.js'
import { Compare } from './compare/compare.js'
import { Bar } from './part/bar.js'
import { Empty, Problem } from './part/empty.js'
import { Help } from './part/help.js'
import { Later } from './part/later.js'
import { Run } from './run/run.js'
import { Runs } from './runs/runs.js'

export function App() {
  const [page, run] = place.value.path
  const open = page === 'runs' ? run : undefined
  useEffect(() => listen(open), [open])
  useEffect(openWhatWasAsked, [])
  useKeys({ t: nextTheme, n: () => writes.peek() && go(['new']), p: () => writes.peek() && go(['playground']) })
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Bar />
      <div id="content" tabIndex={-1}>
        {trouble.value !== undefined && <Problem problem={trouble.value} />}
        <View />
      </div>
      <Help />
    </>
  )
}

function View() {
  const [page, run] = place.value.path
  if (page === undefined || (page === 'runs' && run === undefined)) return <Runs />
  if (page === 'runs') return <Run key={run} id={run} />
  if (page === 'compare') return <Compare />
  if (page === 'new') return <Later key="new" load={() => import('./write/write.js').then(({ Write }) => Write)} />
  if (page === 'playground')
    return (
      <Later key="playground" load={() => import('./playground/playground.js').then(({ Playground }) => Playground)} />
    )
  if (page === 'machine')
    return <Later key="machine" load={() => import('./machine/machine.js').then(({ Machine }) => Machine)} />
  if (page === 'perf') return <Later key="perf" load={() => import('./perf/perf.js').then(({ Perf }) => Perf)} />
  return (
    <Empty title="There is no such page">
      <a href={linkTo([])}>All runs</a>
    </Empty>
  )
}

/** `trinity view` opens Studio for one table of rollouts, `trinity perf view` for a report. */
function openWhatWasAsked(): void {
  get<Session>('session').then(
    ({ opens, report: measured, writes: mayWrite }) => {
      writes.value = mayWrite
      report.value = measured
      if (measured !== undefined && place.peek().path.length === 0) go(['perf'])
      if (opens !== undefined && place.peek().path.length === 0)
        go(['runs', opens.run, 'rollouts'], { store: opens.store })
    },
    () => undefined, // the stream of events meets the same problem, and shows it
  )
}
