import type { Timeline } from '../../src/studio/api.js'
import { useAsked } from '../base/asked.js'
import { duration, moment, percent } from '../base/format.js'
import { useKeys } from '../base/keys.js'
import { stale } from '../base/live.js'
import { numberOf, query, setQuery } from '../base/place.js'
import { runPath } from '../base/server.js'
import { Empty, Problem } from '../part/empty.js'
import { KINDS, laneShares } from './lane-shares.js'
import { Lanes } from './lanes.js'

/** Who works, who waits, and where the time of a step goes. */
export function TimelineView({ id }: { id: string }) {
  const from = numberOf(query.value.from)
  const to = numberOf(query.value.to)
  const { answer, problem } = useAsked<Timeline>(runPath(id, 'timeline'), { from, to }, stale.timeline.value).value
  const show = (begin?: number, end?: number) =>
    setQuery({ from: begin === undefined ? '' : begin.toFixed(3), to: end === undefined ? '' : end.toFixed(3) })
  useKeys({ 0: () => show(answer?.begin, answer?.end) })
  if (problem !== undefined) return <Problem problem={problem} />
  if (answer === undefined) return <p class="loading">Reading…</p>
  if (answer.lanes.every(({ spans }) => spans.length === 0))
    return (
      <Empty title="No times on record">
        {answer.missing.map((line) => (
          <p key={line}>{line}</p>
        ))}
      </Empty>
    )
  const span = answer.to - answer.from
  const widen = (by: number) => show(answer.from - (span * (by - 1)) / 2, answer.to + (span * (by - 1)) / 2)
  return (
    <>
      <div class="tools">
        <span class="figure">{moment(answer.from)}</span>
        <span class="muted">
          {duration(span)} of {duration(answer.end - answer.begin)}
        </span>
        <span class="space" />
        <button type="button" class="quiet" disabled={from === undefined} onClick={() => show()}>
          Newest
        </button>
        <button
          type="button"
          onClick={() => show(answer.from - span * 0.8, answer.to - span * 0.8)}
          aria-label="earlier"
        >
          ←
        </button>
        <button type="button" onClick={() => show(answer.from + span * 0.8, answer.to + span * 0.8)} aria-label="later">
          →
        </button>
        <button type="button" onClick={() => widen(0.5)} aria-label="zoom in">
          +
        </button>
        <button type="button" onClick={() => widen(2)} aria-label="zoom out">
          −
        </button>
        <button type="button" onClick={() => show(answer.begin, answer.end)}>
          Whole run
        </button>
      </div>
      <Lanes timeline={answer} onZoom={show} />
      <Shares timeline={answer} />
      {answer.missing.map((line) => (
        <p key={line} class="note">
          {line}
        </p>
      ))}
    </>
  )
}

function Shares({ timeline }: { timeline: Timeline }) {
  const shares = laneShares(timeline.lanes, timeline.from, timeline.to)
  return (
    <div class="sheet">
      <table class="shares">
        <thead>
          <tr>
            <th>Lane</th>
            {KINDS.map((kind) => (
              <th key={kind}>
                <i class={`dot span-${kind}`} /> {kind}
              </th>
            ))}
            <th>For whom</th>
          </tr>
        </thead>
        <tbody>
          {shares.map(({ lane, seconds, total, waits }) => (
            <tr key={lane}>
              <td>{lane}</td>
              {KINDS.map((kind) => (
                <td key={kind} class="figure" title={duration(seconds[kind])}>
                  {seconds[kind] === 0 ? <span class="muted">–</span> : percent(seconds[kind] / total)}
                </td>
              ))}
              <td class="muted waits">
                {waits.map((one) => `${one.label} ${percent(one.seconds / total)}`).join(', ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
