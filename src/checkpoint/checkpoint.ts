/** Writes one folder of a checkpoint; the folder does not exist yet. */
export type FolderWriter = (dir: string) => Promise<void>

/** What a full checkpoint is made of. */
export interface CheckpointParts {
  /** `actor`, `critic`, …: each is written by its own model. */
  readonly folders: Readonly<Record<string, FolderWriter>>
  /** Everything else, plain JSON by name: `run_state.json`. */
  readonly state: Readonly<Record<string, unknown>>
  /** Small files beside the checkpoints for people and tools: `<name>_meta.json`. */
  readonly meta?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** A complete checkpoint on disk. */
export interface SavedCheckpoint {
  readonly step: number
  readonly dir: string
  readonly state: Readonly<Record<string, unknown>>
  /** Path of one of its folders; undefined where it has none of that name. */
  folder(name: string): string | undefined
}

/** Weights on disk that a sampler can load. */
export interface SavedWeights {
  readonly step: number
  /** A Hugging Face directory. */
  readonly path: string
  /** Whether training can be resumed from it as well. */
  readonly full: boolean
}

/** One evaluation that is worth remembering. */
export interface EvalRecord {
  readonly step: number
  /** Name of the number that decides. */
  readonly metric: string
  readonly score: number
  readonly metrics: Readonly<Record<string, number>>
}

/** `best_eval.json` */
export interface BestEval {
  readonly first: EvalRecord
  readonly best: EvalRecord
  readonly last: EvalRecord
  /** All of them, by step. */
  readonly history: readonly EvalRecord[]
}
