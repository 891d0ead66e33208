import { messageOf } from '../base/error.js'
import type { Logger } from '../base/log/logger.js'
import { redactAll } from '../base/secret/index.js'
import type { Monitor } from './monitor.js'

export interface Part {
  readonly name: string
  readonly monitor: Monitor
}

/**
 * Several monitors as one that never fails: what goes wrong in one of them is logged once, counted, and logged again
 * with the count at the end. It also keeps out what is not a number, and secrets in tables: an error may quote them.
 */
export class GuardedMonitor implements Monitor {
  readonly #parts: readonly Part[]
  readonly #logger: Logger
  readonly #failures = new Map<string, number>()

  constructor(parts: readonly Part[], logger: Logger) {
    this.#parts = parts
    this.#logger = logger
  }

  log(metrics: Readonly<Record<string, number>>, step: number): void {
    this.#each((monitor) => monitor.log(numbersOf(metrics), wholeStep(step)))
  }

  table(name: string, rows: readonly Readonly<Record<string, unknown>>[], step: number): void {
    const shown = redactAll(rows)
    this.#each((monitor) => monitor.table(name, shown, wholeStep(step)))
  }

  rewind(step: number): void {
    this.#each((monitor) => monitor.rewind(wholeStep(step)))
  }

  async close(): Promise<void> {
    // The last first: others may still read what the first has written.
    for (const { name, monitor } of [...this.#parts].reverse()) {
      try {
        await monitor.close()
      } catch (error) {
        this.#failed(name, error)
      }
    }
    for (const [name, count] of this.#failures) {
      if (count > 1) this.#tell(`monitor ${name}: ${count} failures in total`)
    }
    this.#failures.clear()
  }

  #each(act: (monitor: Monitor) => void): void {
    for (const { name, monitor } of this.#parts) {
      try {
        act(monitor)
      } catch (error) {
        this.#failed(name, error)
      }
    }
  }

  #failed(name: string, error: unknown): void {
    const before = this.#failures.get(name) ?? 0
    this.#failures.set(name, before + 1)
    if (before === 0) this.#tell(`monitor ${name} failed; training continues without it: ${messageOf(error)}`)
  }

  #tell(text: string): void {
    try {
      this.#logger.warn(text)
    } catch {
      // a logger that fails is no reason to stop either
    }
  }
}

function numbersOf(metrics: Readonly<Record<string, unknown>>): Record<string, number> {
  const numbers: [string, number][] = []
  for (const [name, value] of Object.entries(metrics)) if (typeof value === 'number') numbers.push([name, value])
  return Object.fromEntries(numbers)
}

function wholeStep(step: number): number {
  if (Number.isSafeInteger(step)) return step
  throw new RangeError(`step ${step} is not a whole number`)
}
