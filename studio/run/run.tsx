import { useEffect, useMemo } from 'preact/hooks'
import type { RunDetail } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { useKeys } from '../base/keys.js'
import { detail } from '../base/live.js'
import { go, linkTo, place } from '../base/place.js'
import { runName } from '../base/run-names.js'
import { runPath } from '../base/server.js'
import { Problem } from '../part/empty.js'
import { Rollout } from '../rollouts/rollout.js'
import { Rollouts } from '../rollouts/rollouts.js'
import { Charts } from './charts.js'
import { Checkpoints } from './checkpoints.js'
import { Configuration } from './configuration.js'
import { Headline } from './headline.js'
import { Logs } from './logs.js'
import { noteGroups } from './note-groups.js'
import { Notes } from './notes.js'
import { RunActions } from './run-actions.js'
import { SeriesStore } from './series-store.js'
import { TimelineView } from './timeline-view.js'

const TABS = [
  ['charts', 'Charts'],
  ['timeline', 'Timeline'],
  ['rollouts', 'Rollouts'],
  ['logs', 'Logs'],
  ['notes', 'Notes'],
  ['checkpoints', 'Checkpoints'],
  ['configuration', 'Configuration'],
] as const

export function Run({ id }: { id: string }) {
  const [, , tab = 'charts'] = place.value.path
  const asked = useAsked<RunDetail>(runPath(id))
  const known = detail.value?.id === id ? detail.value : asked.value.answer
  const store = useMemo(() => new SeriesStore(id), [id])
  useEffect(() => () => store.close(), [store])
  // the first answer comes faster than the stream; the stream is newer
  useEffect(() => {
    if (asked.value.answer !== undefined && detail.peek() === undefined) detail.value = asked.value.answer
  }, [asked.value.answer])
  const move = (by: number) => {
    const at = TABS.findIndex(([name]) => name === tab)
    const next = TABS[at + by]
    if (at >= 0 && next !== undefined) go(['runs', id, next[0]])
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    u: () => go([]),
  })
  if (known === undefined && asked.value.problem !== undefined) return <Problem problem={asked.value.problem} />
  return (
    <main class="page">
      <h1 class="run-name hidden">{known === undefined ? 'Run' : runName(known)}</h1>
      <div class="run-head">
        <Headline run={known} />
        <RunActions run={known} />
      </div>
      <nav class="tabs" aria-label="Of this run">
        {TABS.map(([name, label]) => (
          <a
            key={name}
            href={linkTo(['runs', id, name])}
            aria-current={name === tab || (name === 'rollouts' && tab === 'rollout') ? 'page' : undefined}
          >
            {label}
            {name === 'notes' && known !== undefined && known.notes.length > 0 && (
              <small>{noteGroups(known.notes).length}</small>
            )}
          </a>
        ))}
      </nav>
      {tab === 'charts' && <Charts store={store} />}
      {tab === 'timeline' && <TimelineView id={id} />}
      {tab === 'rollouts' && <Rollouts id={id} />}
      {tab === 'rollout' && <Rollout id={id} />}
      {tab === 'logs' && <Logs id={id} />}
      {tab === 'notes' && <Notes run={known} />}
      {tab === 'checkpoints' && <Checkpoints run={known} />}
      {tab === 'configuration' && <Configuration id={id} />}
    </main>
  )
}
