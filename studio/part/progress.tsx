import type { Progress as Steps } from '../../src/studio/api.js'
import { count, duration } from '../base/format.js'

export function Progress({ progress }: { progress: Steps }) {
  const { step, total, secondsLeft } = progress
  return (
    <span class="progress">
      <span>
        {count(step)}
        {total !== undefined && <span class="muted"> / {count(total)}</span>}
        {secondsLeft !== undefined && <span class="muted"> · {duration(secondsLeft)} left</span>}
      </span>
      <progress max={total ?? 1} value={total === undefined ? 0 : Math.min(step, total)} aria-label="steps done" />
    </span>
  )
}
