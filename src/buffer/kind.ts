import { TrinityError } from '../base/error.js'
import type { ExperienceBufferConfig, Given } from '../config/index.js'
import type { ExperienceBuffer } from './buffer.js'
import type { IndexOrder, RowExperiences } from './file/file-buffer.js'
import type { Repair } from './file/jsonl-file.js'

/** The configuration of an experience buffer: of what the buffers read, only name and kind must be there. */
export type GivenBuffer = Given<Omit<ExperienceBufferConfig, 'name' | 'storage_type'>> & {
  readonly name: string
  readonly storage_type: string
}

/** A kind of buffer, by its name in `storage_type`. */
export interface BufferKind {
  /** One line for people. */
  readonly doc: string
  open(config: GivenBuffer, context: BufferContext): Promise<ExperienceBuffer>
}

/** What a buffer is opened for. */
export interface BufferContext {
  /** `project/name`. A database that another job has written to is refused; absent: any database will do. */
  job?: string
  /** Seeds the noise of priority functions. */
  seed?: number
  /** Told when a file that a crash had left unfinished was repaired. */
  onRepair?: (repair: Repair) => void
  /** Told when the server of a database is away for a while. */
  onAway?: (message: string) => void
  /** Longest wait for one statement of a database on a server, in milliseconds. Default: 2 minutes, which is also the most. */
  silenceMs?: number
  /** File buffers: data other than a JSONL file of experiences, and an order other than that of the file. */
  source?: RowExperiences
  order?: IndexOrder | ((length: number) => IndexOrder | Promise<IndexOrder>)
  now?: () => number
}

export function timeoutMs(config: GivenBuffer): number {
  return (config.max_read_timeout ?? 1800) * 1000
}

export function requiredPath(config: GivenBuffer): string {
  if (config.path) return config.path
  throw new TrinityError('buffer/path', `buffer '${config.name}' of kind ${config.storage_type} needs a path`, {
    path: `${config.name}.path`,
  })
}
