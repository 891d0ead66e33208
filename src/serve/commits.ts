import { TrinityError } from '../base/error.js'
import type { ExperienceBuffer } from '../buffer/index.js'
import type { Experience } from '../experience/index.js'
import type { ExperiencePipeline } from '../pipeline/index.js'
import type { History } from './history.js'

/** Stored in the buffer together with the experiences of a commit. */
interface CommitMark {
  /** Tells it from the mark of an explorer that runs tasks. */
  readonly version: 'serve'
  readonly step: number
}

/** What a commit gave to the trainer. */
export interface Commit {
  readonly step: number
  readonly experiences: readonly Experience[]
  readonly metrics: Readonly<Record<string, number>>
}

export interface CommitParts {
  readonly history: Pick<History, 'begin' | 'end'>
  readonly pipeline: Pick<ExperiencePipeline, 'process'>
  readonly buffer: Pick<ExperienceBuffer, 'cut'>
  /** Name of the explorer, under which the buffer knows it. */
  readonly who: string
  /** The schedule pairs explorer steps with training steps. */
  readonly paired: boolean
}

/**
 * Carries what has feedback to the trainer, once. History and buffer are two databases: the number of a commit is written
 * into the history before, and into the buffer with the experiences; where the process dies in between, the buffer says
 * whether they have arrived.
 */
export class Commits {
  readonly #parts: CommitParts
  #step = 0
  /** The history knows of everything that has arrived in the buffer. */
  #isSettled = false
  #last: Promise<unknown> = Promise.resolve()

  private constructor(parts: CommitParts) {
    this.#parts = parts
  }

  static async open(parts: CommitParts): Promise<Commits> {
    const commits = new Commits(parts)
    await commits.#settle()
    return commits
  }

  /** Commits done. */
  get step(): number {
    return this.#step
  }

  /** One at a time; whatever got feedback meanwhile goes with the next. */
  commit(): Promise<Commit> {
    const next = this.#last.then(() => this.#commit())
    this.#last = next.catch(() => {})
    return next
  }

  /** Until no commit is under way. */
  async idle(): Promise<void> {
    await this.#last
  }

  async #commit(): Promise<Commit> {
    const { history, pipeline, who, paired } = this.#parts
    if (!this.#isSettled) await this.#settle()
    const step = this.#step + 1
    const experiences = await history.begin(step)
    if (experiences.length === 0) return { step: this.#step, experiences, metrics: {} }
    const markOf = (): CommitMark => ({ version: 'serve', step })
    // Where this fails, the buffer may have got them all the same.
    this.#isSettled = false
    const { metrics } = await pipeline.process(experiences, { who, markOf, step: paired ? step : undefined })
    await this.#set(step)
    return { step, experiences, metrics }
  }

  /** Asks the buffer for the last commit that has arrived. */
  async #settle(): Promise<void> {
    const { buffer, who } = this.#parts
    const mark = (await buffer.cut()).marks[who] as CommitMark | undefined
    if (mark !== undefined && mark.version !== 'serve') {
      throw new TrinityError('serve/other-explorer', `explorer '${who}' of this job runs tasks`, {
        path: 'explorer.name',
        hint: 'give the server an explorer.name of its own, or start it under another name',
      })
    }
    await this.#set(mark?.step ?? 0)
  }

  async #set(step: number): Promise<void> {
    await this.#parts.history.end(step)
    this.#step = step
    this.#isSettled = true
  }
}
