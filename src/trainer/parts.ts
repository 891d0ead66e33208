import type { LogDir } from '../base/log/logger.js'
import type { Cut } from '../buffer/buffer.js'
import type { ExperienceBuffer } from '../buffer/index.js'
import type { Checkpoints, FolderWriter } from '../checkpoint/index.js'
import type { Config } from '../config/index.js'
import type { ScoreModel, TrainModel } from '../engine/contract.js'
import type { Monitor } from '../monitor/monitor.js'
import type { TrainerCounts } from '../monitor/run-counts.js'
import type { SpanLane } from '../monitor/span/span.js'
import type { RunView } from '../monitor/view.js'

/** How new weights leave the trainer. It never trains while one of these is at work. */
export interface TrainerSync {
  /** Runs beside the wait for experiences, until the signal says that they are there (or that the run ends). */
  whileWaiting(arrived: AbortSignal): Promise<void>
  /** After every training step, before its checkpoint. */
  afterStep(step: number, signal: AbortSignal): Promise<void>
}

/** What the rest of the run adds to the trainer's own part of a checkpoint. */
export interface Snapshot {
  /** Plain JSON by name: the buffer's cut, the pipeline's cut, the synchronizer's state, … `trainer` is taken. */
  readonly state: Readonly<Record<string, unknown>>
  /** Further folders by name, such as the samplers' weights where they are not the trainer's. */
  readonly folders?: Readonly<Record<string, FolderWriter>>
  /** `<name>_meta.json` beside the checkpoints, such as the explorer's. */
  readonly meta?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** What the loop of the trainer is made of. */
export interface TrainerParts {
  readonly config: Config
  readonly policy: TrainModel
  /** Frozen copy of the first policy. Absent with LoRA, where the policy without its adapter is the reference. */
  readonly reference?: ScoreModel
  readonly critic?: TrainModel
  readonly buffer: ExperienceBuffer
  /** By their name under `trainer_input.auxiliary_buffers`. Their positions belong to the trainer's state. */
  readonly auxiliaryBuffers?: Readonly<Record<string, ExperienceBuffer>>
  readonly sync?: TrainerSync
  /** Last explorer step that a training step may choose from. Absent: it chooses from what is there. */
  readonly horizon?: (step: number) => number
  readonly checkpoints: Checkpoints
  /** Asked for at every checkpoint, when no transfer and no step is under way. */
  readonly snapshot?: (step: number) => Promise<Snapshot>
  readonly monitor: Pick<Monitor, 'log' | 'table'>
  readonly view: Pick<RunView, 'phase' | 'metrics' | 'examples' | 'note'>
  readonly logs: Pick<LogDir, 'logger'>
  readonly spans?: SpanLane
  /** Training steps that the data will give, where trainer.total_steps does not say; learning-rate schedules need it. */
  readonly expectedSteps?: number
}

/** The trainer's part of a checkpoint, plain JSON. */
export interface TrainerState {
  readonly version: 1
  readonly step: number
  readonly controllers: Readonly<Record<string, { kl_coef: number }>>
  readonly auxiliary: Readonly<Record<string, Cut>>
  /** Undefined in checkpoints of earlier releases. */
  readonly counts?: TrainerCounts
}

/** Why the loop ended. */
export type TrainerEnd = 'total_steps' | 'end_of_data' | 'stopped'
