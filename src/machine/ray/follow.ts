import { setTimeout as sleep } from 'node:timers/promises'
import { HttpError } from '../../base/http/index.js'
import type { RayJob, RayJobs } from './jobs.js'

const POLL_MS = 1000
/** The dashboard sends a log from its beginning: a long one is asked for less often. */
const POLL_MS_PER_BYTE = 1 / 1000
/** How long a head that was there may be away: it may be starting again. */
const AWAY_MS = 60_000

export interface FollowOptions {
  /** What the job writes, as it comes. */
  readonly write: (text: string) => void
  /** Ends the following, not the job. */
  readonly signal?: AbortSignal
  readonly pollMs?: number
  readonly awayMs?: number
}

/** Shows what a job writes until it has ended, and gives how it ended. */
export async function followJob(jobs: RayJobs, id: string, options: FollowOptions): Promise<RayJob> {
  const { write, signal, pollMs = POLL_MS, awayMs = AWAY_MS } = options
  let shown = 0
  let heard = performance.now()
  for (;;) {
    let size = 0
    try {
      // before the log: what it wrote last is then in the log
      const job = await jobs.job(id, { signal })
      const text = await jobs.logs(id, { signal })
      heard = performance.now()
      size = text.length
      // a log that was cut is begun anew
      if (text.length < shown) shown = 0
      if (text.length > shown) write(text.slice(shown))
      shown = text.length
      if (job.hasEnded) return job
    } catch (error) {
      const isAway = error instanceof HttpError && error.isPassing && performance.now() - heard < awayMs
      if (!isAway) throw error
    }
    await sleep(Math.max(pollMs, size * POLL_MS_PER_BYTE), undefined, { signal }).catch(() => {})
    signal?.throwIfAborted()
  }
}
