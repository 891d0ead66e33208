import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { TrinityError } from '../../base/error.js'
import type { StopAnswer } from '../api.js'
import type { FoundRun } from '../run/find.js'
import { workersOf } from '../run/workers.js'

/** Between two signals: the first must have been heard. */
const GAP_MS = 500

/**
 * Tells the processes of a run to stop, as Ctrl-C does: once to finish the step and save, twice to end now. Whoever holds
 * the locks of the run is meant, whoever started it.
 */
export class Stopper {
  /** Those that were told to finish. */
  readonly #told = new Set<number>()
  readonly #kill: (pid: number, signal: NodeJS.Signals) => unknown

  constructor(kill: (pid: number, signal: NodeJS.Signals) => unknown = process.kill.bind(process)) {
    this.#kill = kill
  }

  async stop(run: FoundRun, isNow: boolean): Promise<StopAnswer> {
    const holders = await workersOf(run.path)
    const here = holders.filter(({ host }) => host === hostname())
    if (here.length === 0) {
      const elsewhere = [...new Set(holders.map(({ host }) => host))].join(', ')
      throw new TrinityError(
        'studio/stop',
        elsewhere ? `the run is on ${elsewhere}, not on this machine` : 'no process of this run is there',
        { path: run.path, hint: elsewhere ? 'stop it there' : 'it has ended already' },
      )
    }
    const pids = [...new Set(here.map(({ pid }) => pid))]
    const fresh = pids.filter((pid) => !this.#told.has(pid))
    for (const pid of isNow ? pids : fresh) this.#signal(pid)
    if (isNow && fresh.length > 0) {
      await sleep(GAP_MS)
      const still = new Set((await workersOf(run.path).catch(() => [])).map(({ pid }) => pid))
      for (const pid of fresh) if (still.has(pid)) this.#signal(pid)
    }
    return { pids }
  }

  #signal(pid: number): void {
    this.#told.add(pid)
    try {
      this.#kill(pid, 'SIGINT')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}
