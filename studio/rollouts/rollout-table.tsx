import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { RolloutQuery, RolloutRow } from '../../src/studio/api.js'
import { NONE } from '../base/format.js'
import { useKeys } from '../base/keys.js'
import { go, linkTo, query } from '../base/place.js'
import { Empty, Problem } from '../part/empty.js'
import { VirtualList } from '../part/virtual-list.js'
import { mostOf, Reward } from './reward.js'
import { useRolloutPages } from './rollout-pages.js'
import { taskWords, withoutFrames } from './task-words.js'

const ROW = 34

export function RolloutTable({ id, filter }: { id: string; filter: RolloutQuery }) {
  const { rows, isAll, problem, more } = useRolloutPages(id, filter)
  const selected = useSignal(-1)
  useEffect(() => void more(), [more])
  const target = (row: RolloutRow) => ({ ...query.value, store: filter.store, id: row.id })
  const move = (by: number) => {
    selected.value = Math.max(0, Math.min(rows.value.length - 1, selected.value + by))
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => {
      const row = rows.value[selected.value]
      if (row !== undefined) go(['runs', id, 'rollout'], target(row))
    },
  })
  const most = mostOf(rows.value)
  if (problem.value !== undefined) return <Problem problem={problem.value} />
  if (isAll.value && rows.value.length === 0)
    return (
      <Empty title="No rollout fits">
        <p>Widen a range, or clear the filter.</p>
      </Empty>
    )
  return (
    <div class="rollout-table">
      <div class="rollout-row heads" aria-hidden="true">
        <span>Step</span>
        <span title="row of its task set, or number within its step">Task</span>
        <span>Run</span>
        <span>Version</span>
        <span>Reward</span>
        <span>Tokens</span>
        <span>Prompt</span>
        <span>Answer</span>
      </div>
      <VirtualList
        label="rollouts"
        count={rows.value.length}
        rowHeight={ROW}
        selected={selected.value < 0 ? undefined : selected.value}
        onEnd={more}
        row={(index) => {
          const row = rows.value[index]
          return (
            <a
              key={row.id}
              class={`rollout-row ${index === selected.value ? 'selected' : ''}`}
              href={linkTo(['runs', id, 'rollout'], target(row))}
            >
              <Cells row={row} most={most} />
            </a>
          )
        }}
      />
    </div>
  )
}

function Cells({ row, most }: { row: RolloutRow; most: number }) {
  return (
    <>
      <span class="figure">{row.step}</span>
      <span class="cut" title={taskWords(row)}>
        {row.source === undefined ? row.task : row.source.index}
      </span>
      <span class="figure">{row.run}</span>
      <span class="figure">{row.version}</span>
      <Reward reward={row.reward} most={most} />
      <span class="figure">{row.responseLength ?? NONE}</span>
      <span class="cut asked muted" title={row.prompt}>
        {oneLine(withoutFrames(row.prompt ?? ''))}
      </span>
      <span class="cut answer" title={row.response}>
        {row.failure !== undefined && <small class="tag bad">{row.failure.replaceAll('_', ' ')}</small>}
        {row.truncated !== undefined && <small class="tag">{row.truncated.replaceAll('_', ' ')}</small>}
        {oneLine(row.response ?? '')}
      </span>
    </>
  )
}

const oneLine = (text: string) => text.replace(/\s*\n\s*/g, ' ↵ ')
