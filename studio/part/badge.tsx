import type { RunState } from '../../src/studio/api.js'

const SIGNS: Record<RunState, string> = {
  running: '●',
  waiting: '◐',
  finished: '✓',
  partial: '◔',
  failed: '✕',
  broken: '⚠',
  stopped: '■',
}

/** A state by sign, word and color: no one of them alone. */
export function Badge({ state }: { state: RunState }) {
  return (
    <span class={`badge ${state}`}>
      <i aria-hidden="true">{SIGNS[state]}</i>
      {state}
    </span>
  )
}
