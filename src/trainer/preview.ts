import type { Experience } from '../experience/index.js'
import type { Monitor } from '../monitor/monitor.js'

/** Samples for people to look at (`trainer.enable_preview`): the worst and the best of each step, as one table. */
export class Preview {
  readonly #monitor: Pick<Monitor, 'table'>
  #rows: Record<string, unknown>[] = []

  constructor(monitor: Pick<Monitor, 'table'>) {
    this.#monitor = monitor
  }

  add(step: number, examples: readonly Experience[]): void {
    for (const { promptText, responseText, reward } of examples) {
      this.#rows.push({ step, prompt: promptText ?? '', response: responseText ?? '', reward: reward ?? null })
    }
  }

  flush(step: number): void {
    if (this.#rows.length > 0) this.#monitor.table('rollout_examples', this.#rows, step)
    this.#rows = []
  }
}
