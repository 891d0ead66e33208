import { TrinityError } from '../base/error.js'
import type { ExperienceBufferConfig, Given } from '../config/index.js'
import type { Experience } from '../experience/experience.js'
import { readFeatures } from '../task/features.js'
import { createSelector, type Selector, type SelectorState } from '../task/selector/index.js'
import { openDataset } from '../task/source/dataset.js'
import type { RowSource } from '../task/source/row-source.js'
import { type ChatCoder, createFormatter, type Format, type LengthLimits } from './format/index.js'

/** A data set as experiences to train on, and the order to go through it. */
export class TrainingData {
  readonly length: number
  readonly #source: RowSource
  readonly #format: Format
  readonly #selector: Selector

  private constructor(source: RowSource, format: Format, selector: Selector) {
    this.#source = source
    this.#format = format
    this.#selector = selector
    this.length = source.length
  }

  /** The rows that `schema_type` (default sft) makes experiences of. */
  static async open(
    config: Given<ExperienceBufferConfig>,
    coder: ChatCoder,
    limits: LengthLimits = {},
  ): Promise<TrainingData> {
    const format = createFormatter(config.schema_type ?? 'sft', config.format ?? {}, coder, limits)
    const source = await openDataset({ ...config, path: config.path ?? '' })
    try {
      const features = (keys: readonly string[]) => readFeatures(source, keys)
      return new TrainingData(source, format, await createSelector(config.data_selector ?? {}, source.length, features))
    } catch (error) {
      await source.close()
      throw error
    }
  }

  /** These rows as experiences; a row that does not fit is named by file and line. */
  async read(rows: readonly number[]): Promise<Experience[]> {
    return Promise.all(rows.map((row) => this.#read(row)))
  }

  /** Rows in the order of the selector; endless, and exactly restorable. */
  readonly order = {
    next: (count: number): number[] => [...this.#selector.take(count)],
    save: (): SelectorState => this.#selector.state(),
    load: (saved: unknown): void => this.#selector.restore(saved as SelectorState),
  }

  close(): Promise<void> {
    return this.#source.close()
  }

  async #read(row: number): Promise<Experience> {
    try {
      const experience = this.#format(await this.#source.row(row))
      experience.eid.task = row
      experience.info.task_index = row
      return experience
    } catch (error) {
      if (!(error instanceof TrinityError) || error.path !== undefined) throw error
      const { code, message, hint } = error
      throw new TrinityError(code, `row ${row}: ${message}`, {
        path: await this.#source.where(row),
        hint,
        cause: error,
      })
    }
  }
}
