import { dirname, join } from 'node:path'
import { writeJsonFile } from '../base/file/atomic-file.js'
import { readJsonObject } from '../base/file/json-file.js'
import { makeFolder } from '../base/file/make-folder.js'
import type { ResolvedStage } from '../config/index.js'
import { jobName } from './job-name.js'

export const STAGE_META = 'stage_meta.json'

export function stageMetaPath(stages: readonly ResolvedStage[]): string {
  return join(dirname(stages[0].config.checkpoint_job_dir), STAGE_META)
}

/** Whether a file is the one that runs of these stages write. */
export async function isStageMeta(path: string, stages: readonly ResolvedStage[]): Promise<boolean> {
  const meta = await readJsonObject(path).catch(() => undefined)
  return meta?.job === jobOf(stages) && Array.isArray(meta.stages)
}

/** The job of all stages: that of the first without the name of the stage. */
function jobOf([{ config, name }]: readonly ResolvedStage[]): string {
  return jobName(config).slice(0, -`/${name}`.length)
}

/** `stage_meta.json` in the folder above those of the stages: how far they are, for people and tools. */
export class StageMeta {
  readonly #path: string
  readonly #job: string
  readonly #names: readonly (string | null)[]
  #finished: (string | null)[] = []

  constructor(stages: readonly ResolvedStage[]) {
    this.#path = stageMetaPath(stages)
    this.#job = jobOf(stages)
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
    await makeFolder(dirname(this.#path))
    await writeJsonFile(this.#path, {
      job: this.#job,
      latest_stage: stage,
      stages: this.#names,
      finished: this.#finished,
    })
  }
}
