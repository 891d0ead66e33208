import { setTimeout as sleep } from 'node:timers/promises'
import type { Capacity } from './capacity.js'
import type { ChildRun } from './child.js'
import type { PlannedRun } from './plan.js'

/** How often memory and progress are looked at. */
const LOOK_MS = 500

export interface QueueOptions {
  readonly capacity: Capacity
  start(run: PlannedRun): Pick<ChildRun, 'run' | 'failed' | 'pid' | 'isWarm' | 'stop' | 'kill'>
  /** Told of each run when it begins and when it has ended; `failed`: why, where it went wrong. */
  begun(run: PlannedRun): void
  ended(run: PlannedRun, failed: string | undefined): void
  /** Once: no further runs, and those under way save and end. Twice: they end at once. */
  readonly stop: AbortSignal
  readonly now: AbortSignal
}

/** Runs all of them, as many at a time as there is room for. One that fails does not hold up the others. */
export async function runQueue(runs: readonly PlannedRun[], options: QueueOptions): Promise<void> {
  const { capacity, start, begun, ended, stop, now } = options
  const waiting = [...runs]
  const open = new Set<ReturnType<QueueOptions['start']>>()
  const each = (act: (one: ReturnType<QueueOptions['start']>) => void) => () => open.forEach(act)
  const ask = each((one) => one.stop())
  const kill = each((one) => one.kill())
  stop.addEventListener('abort', ask, { once: true })
  now.addEventListener('abort', kill, { once: true })
  try {
    while (open.size > 0 || (waiting.length > 0 && !stop.aborted)) {
      await capacity.observe([...open].flatMap(({ pid }) => pid ?? []))
      const isReady = [...open].every(({ isWarm }) => isWarm)
      if (waiting.length > 0 && !stop.aborted && isReady && capacity.fits(open.size)) {
        const run = waiting.shift() as PlannedRun
        begun(run)
        const child = start(run)
        open.add(child)
        void child.failed.then((failed) => {
          open.delete(child)
          ended(run, failed)
        })
        continue
      }
      const look = new AbortController()
      const over = [...open].map(({ failed }) => failed)
      await Promise.race([...over, sleep(LOOK_MS, undefined, { signal: look.signal }).catch(() => {})])
      look.abort()
    }
  } catch (error) {
    kill()
    throw error
  } finally {
    stop.removeEventListener('abort', ask)
    now.removeEventListener('abort', kill)
  }
}
