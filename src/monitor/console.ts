import type { Logger } from '../base/log/logger.js'
import type { Monitor } from './monitor.js'

/** Every number of a step in one line of the role's log. */
export class ConsoleMonitor implements Monitor {
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  log(metrics: Readonly<Record<string, number>>, step: number): void {
    const numbers = Object.entries(metrics).map(([name, value]) => `${name} ${Number(value.toPrecision(6))}`)
    if (numbers.length > 0) this.#logger.info(`step ${step}: ${numbers.join(', ')}`)
  }

  table(name: string, rows: readonly Readonly<Record<string, unknown>>[], step: number): void {
    for (const row of rows) this.#logger.info(`step ${step}, ${name}: ${JSON.stringify(row)}`)
  }

  rewind(step: number): void {
    this.#logger.info(`everything after step ${step} is computed again`)
  }

  async close(): Promise<void> {}
}
