import { readFile } from 'node:fs/promises'
import { availableParallelism, freemem } from 'node:os'

/** What is left free beside the largest run, as a share of it. */
const MARGIN = 1.25
/** A run takes no less. */
const LEAST_BYTES = 512 * 2 ** 20

/** What a machine has to give; tests have their own. */
export interface Machine {
  readonly cores: number
  /** Memory that is free now. */
  free(): number
  /** Memory that a process holds; 0: the system does not say. */
  held(pid: number): Promise<number>
}

export const thisMachine: Machine = {
  cores: availableParallelism(),
  free: freemem,
  async held(pid) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
  },
}

/** Runs that may be under way at once: never more than cores, and only as far as the memory goes. */
export class Capacity {
  readonly runs: number
  readonly #machine: Machine
  #largest = LEAST_BYTES

  constructor(wanted: number | 'auto', machine: Machine = thisMachine) {
    this.#machine = machine
    this.runs = wanted === 'auto' ? machine.cores : wanted
  }

  /** Threads of each of several runs; one alone takes what it takes. */
  threads(): number | undefined {
    return this.runs === 1 ? undefined : Math.max(1, Math.floor(this.#machine.cores / this.runs))
  }

  /** Looks at how much the runs take. */
  async observe(pids: readonly number[]): Promise<void> {
    for (const pid of pids) this.#largest = Math.max(this.#largest, await this.#machine.held(pid))
  }

  /** Whether one more fits beside those that are under way; the first always does. */
  fits(running: number): boolean {
    if (running === 0) return true
    return running < this.runs && this.#machine.free() >= MARGIN * this.#largest
  }
}
