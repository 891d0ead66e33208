import type { RunDetail } from '../../src/studio/api.js'
import { moment } from '../base/format.js'
import { Empty } from '../part/empty.js'
import { noteGroups } from './note-groups.js'

/** Warnings and hints, newest first; those that differ in numbers alone are told once. */
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
      {noteGroups(run.notes).map(({ newest: { at, level, from, text }, count }) => (
        <li key={`${at} ${from} ${text}`} class={level.toLowerCase()}>
          <span class="muted">
            {moment(at)} · {from}
            {count > 1 && ` · the newest of ${count} like it`}
          </span>
          <p>{text}</p>
        </li>
      ))}
    </ol>
  )
}
