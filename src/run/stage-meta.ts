import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeJsonFile } from '../base/file/atomic-file.js'
import type { ResolvedStage } from '../config/index.js'

/** `stage_meta.json` in the folder above those of the stages: how far they are, for people and tools. */
export class StageMeta {
  readonly #path: string
  readonly #names: readonly (string | null)[]
  #finished: (string | null)[] = []

  constructor(stages: readonly ResolvedStage[]) {
    this.#path = join(dirname(stages[0].config.checkpoint_job_dir), 'stage_meta.json')
    this.#names = stages.map(({ name }) => name)
  }

  begin(stage: number): Promise<void> {
    return this.#write(stage)
  }

  async finished(stage: number): Promise<void> {
    this.#finished = [...this.#finished, this.#names[stage]]
    await this.#write(stage)
  }

  async #write(stage: number): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true })
    await writeJsonFile(this.#path, { latest_stage: stage, stages: this.#names, finished: this.#finished })
  }
}
