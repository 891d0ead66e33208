import { TrinityError } from '../base/error.js'
import type { ExperienceBuffer } from './buffer.js'
import { type BufferConfig, DEFAULT_TIMEOUT_S } from './config.js'
import type { IndexOrder, RowExperiences } from './file/file-buffer.js'
import type { Repair } from './file/jsonl-file.js'

/** A kind of buffer, by its name in `storage_type`. */
export interface BufferKind {
  /** One line for people. */
  readonly doc: string
  open(config: BufferConfig, context: BufferContext): Promise<ExperienceBuffer>
}

/** What a buffer is opened for. */
export interface BufferContext {
  /** `project/name`. A database that another job has written to is refused; absent: any database will do. */
  job?: string
  /** Seeds the noise of priority functions. */
  seed?: number
  /** Told when a file that a crash had left unfinished was repaired. */
  onRepair?: (repair: Repair) => void
  /** File buffers: data other than a JSONL file of experiences, and an order other than that of the file. */
  source?: RowExperiences
  order?: IndexOrder | ((length: number) => IndexOrder | Promise<IndexOrder>)
  now?: () => number
}

export function timeoutMs(config: BufferConfig): number {
  return (config.max_read_timeout ?? DEFAULT_TIMEOUT_S) * 1000
}

export function requiredPath(config: BufferConfig): string {
  if (config.path) return config.path
  throw new TrinityError('buffer/path', `buffer '${config.name}' of kind ${config.storage_type} needs a path`, {
    path: `${config.name}.path`,
  })
}
