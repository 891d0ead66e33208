import type { RunDetail } from '../../src/studio/api.js'
import { moment } from '../base/format.js'
import { Empty } from '../part/empty.js'

/** Warnings and hints, newest first. */
export function Notes({ run }: { run?: RunDetail }) {
  if (run === undefined) return <p class="loading">Reading…</p>
  if (run.notes.length === 0)
    return (
      <Empty title="Nothing to worry about">
        <p>Warnings and hints of the run appear here: equal rewards, cut answers, an entropy that collapses.</p>
      </Empty>
    )
  return (
    <ol class="notes" reversed>
      {[...run.notes].reverse().map(({ at, level, from, text }, index) => (
        <li key={`${at} ${index}`} class={level.toLowerCase()}>
          <span class="muted">
            {moment(at)} · {from}
          </span>
          <p>{text}</p>
        </li>
      ))}
    </ol>
  )
}
