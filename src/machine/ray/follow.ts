import { setTimeout as sleep } from 'node:timers/promises'
import { HttpError } from '../../base/http/index.js'
import { JobTail } from './job-tail.js'
import type { RayJob, RayJobs } from './jobs.js'

const POLL_MS = 1000
/** Where a log cannot be followed, it is sent from its beginning: a long one is asked for less often. */
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
  let tail: JobTail | undefined
  let heard = performance.now()
  try {
    for (;;) {
      let size = 0
      try {
        // before the log: what it wrote last is then in the log
        const job = await jobs.job(id, { signal })
        // there is no log before it runs
        if (job.status === 'RUNNING') tail ??= new JobTail(jobs, id, write)
        if (job.hasEnded) await tail?.close()
        if (job.hasEnded || tail?.hasEnded) {
          tail ??= new JobTail(jobs, id, write, false)
          const text = await jobs.logs(id, { signal })
          size = text.length
          tail.catchUp(text)
        }
        heard = performance.now()
        if (job.hasEnded) return job
      } catch (error) {
        const isAway = error instanceof HttpError && error.isPassing && performance.now() - heard < awayMs
        if (!isAway) throw error
      }
      await sleep(Math.max(pollMs, size * POLL_MS_PER_BYTE), undefined, { signal }).catch(() => {})
      signal?.throwIfAborted()
    }
  } finally {
    await tail?.close()
  }
}
