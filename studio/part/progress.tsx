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
      {total === undefined ? (
        <i class="no-progress" />
      ) : (
        <progress max={total} value={Math.min(step, total)} aria-label="steps done" />
      )}
    </span>
  )
}
