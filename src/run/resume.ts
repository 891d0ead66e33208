import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import type { Cut, ExperienceBuffer } from '../buffer/index.js'
import type { SavedCheckpoint } from '../checkpoint/index.js'
import type { Config } from '../config/index.js'
import { nextCall } from '../engine/calls.js'
import type { SampleModel } from '../engine/contract.js'
import type { ExplorerMark } from '../explorer/index.js'
import type { ExperiencePipeline } from '../pipeline/index.js'
import type { Synchronizer, WeightLink } from '../synchronizer/index.js'
import type { Snapshot } from '../trainer/index.js'

/** Folder of a checkpoint with the samplers' weights, where they are not the trainer's. */
const SAMPLER = 'sampler'

/** The buffer's cut of a checkpoint, and where the explorer stood behind the last experiences in it. */
export function cutOf(saved: SavedCheckpoint | undefined, { explorer }: Config): { cut?: Cut; mark?: ExplorerMark } {
  const cut = saved?.state.buffer as Cut | undefined
  return { cut, mark: cut?.marks[explorer.name] as ExplorerMark | undefined }
}

export function stepOf(saved: SavedCheckpoint | undefined): number {
  return saved?.step ?? 0
}

export interface SnapshotParts {
  readonly config: Config
  readonly buffer: ExperienceBuffer
  readonly pipeline: ExperiencePipeline
  readonly sync: Synchronizer
  readonly sampler: SampleModel
}

/** What the run adds to the trainer's checkpoint. */
export function snapshotOf({
  config,
  buffer,
  pipeline,
  sync,
  sampler,
}: SnapshotParts): (step: number) => Promise<Snapshot> {
  return async (step) => {
    // In this order: a step that the explorer ends meanwhile is then in the cut, and its sync point still ahead.
    const state = sync.state()
    const cut = await buffer.cut()
    await pipeline.cut()
    const mark = cut.marks[config.explorer.name] as ExplorerMark | undefined
    const own = state.version !== step && state.version !== 0
    return {
      state: { sync: state, buffer: cut },
      folders: own ? { [SAMPLER]: (dir: string) => sampler.saveWeights(dir, nextCall()) } : undefined,
      meta: {
        [config.explorer.name]: { latest_iteration: mark?.step ?? 0, taskset_states: mark?.scheduler.tasksets ?? [] },
      },
    }
  }
}

/** Gives the samplers the first weights: those of the policy, which by way of a folder are those of the model. */
export async function startSamplers(
  samplers: readonly SampleModel[],
  link: WeightLink,
  dir: string,
  signal: AbortSignal,
): Promise<void> {
  if (link.way !== 'checkpoint') await link.transfer(0, 'finish', nextCall(signal))
  else for (const sampler of new Set(samplers)) await sampler.loadWeights(dir, 0, 'finish', nextCall(signal))
}

/** Gives the samplers the weights they had: the trainer's, older ones kept beside them, or the first. */
export async function loadSamplers(
  samplers: readonly SampleModel[],
  link: WeightLink,
  saved: SavedCheckpoint | undefined,
  version: number,
  signal: AbortSignal,
): Promise<void> {
  if (!saved || version === 0) return
  if (version === saved.step) {
    await link.transfer(version, 'finish', nextCall(signal))
    return
  }
  const dir = saved.folder(SAMPLER)
  if (!dir) {
    throw new TrinityError('checkpoint/damaged', `${saved.dir} lacks the samplers' weights of step ${version}`, {
      path: join(saved.dir, SAMPLER),
      hint: 'restore the folder from a backup, or start over with --fresh',
    })
  }
  for (const sampler of new Set(samplers)) await sampler.loadWeights(dir, version, 'finish', nextCall(signal))
}
