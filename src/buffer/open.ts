import { openDatabase } from '../base/database/database.js'
import { isDatabaseUrl } from '../base/database/names.js'
import { TrinityError } from '../base/error.js'
import { Registry } from '../base/registry.js'
import type { ExperienceBuffer } from './buffer.js'
import { type BufferConfig, DEFAULT_CAPACITY, DEFAULT_TIMEOUT_S, replayOf } from './config.js'
import { ExperienceFile } from './file/experience-file.js'
import { FileBuffer, type IndexOrder, type RowExperiences, SequentialOrder } from './file/file-buffer.js'
import type { Repair } from './file/jsonl-file.js'
import { Noise } from './priority/noise.js'
import { FifoOrder } from './queue/fifo-order.js'
import { JsonlKeeper, type Keeper, SqlKeeper } from './queue/keeper.js'
import { PriorityOrder } from './queue/priority-order.js'
import { QueueBuffer } from './queue/queue-buffer.js'
import { claimJob } from './sql/job.js'
import { SqlBuffer } from './sql/sql-buffer.js'
import { ExperienceTable } from './sql/table.js'

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

export type OpenBuffer = (config: BufferConfig, context: BufferContext) => Promise<ExperienceBuffer>

/** Kinds of buffer by `storage_type`. */
export const bufferKinds = new Registry<OpenBuffer>('storage type', {
  queue: openQueue,
  sql: openSql,
  file: openFile,
})

export async function openBuffer(config: BufferConfig, context: BufferContext = {}): Promise<ExperienceBuffer> {
  return bufferKinds.get(config.storage_type)(config, context)
}

async function openQueue(config: BufferConfig, context: BufferContext): Promise<ExperienceBuffer> {
  const capacity = config.capacity ?? DEFAULT_CAPACITY
  const replay = replayOf(config)
  return new QueueBuffer({
    name: config.name,
    capacity,
    order: replay
      ? new PriorityOrder(capacity, replay, new Noise(context.seed ?? 0), context.now)
      : new FifoOrder(capacity),
    countsUses: !replay,
    timeoutMs: timeoutMs(config),
    keeper: config.path ? await openKeeper(config.path, config.name, context) : undefined,
  })
}

/** A file or a table that keeps experiences beside a queue or a pipeline. */
export async function openKeeper(path: string, name: string, context: BufferContext): Promise<Keeper> {
  if (isDatabaseUrl(path)) return SqlKeeper.open(await openTable(path, name, context))
  const keeper = await JsonlKeeper.open(path)
  if (keeper.file.repair) context.onRepair?.(keeper.file.repair)
  return keeper
}

async function openSql(config: BufferConfig, context: BufferContext): Promise<ExperienceBuffer> {
  return new SqlBuffer({
    name: config.name,
    table: await openTable(requiredPath(config), config.name, context),
    timeoutMs: timeoutMs(config),
    replay: replayOf(config),
    noise: new Noise(context.seed ?? 0),
    retry: { times: Math.max(1, config.max_retry_times ?? 3), intervalMs: (config.max_retry_interval ?? 1) * 1000 },
  })
}

/** A table of experiences in a database that belongs to this job. */
async function openTable(url: string, name: string, context: BufferContext): Promise<ExperienceTable> {
  const db = await openDatabase(url)
  try {
    await claimJob(db, context.job)
    return await ExperienceTable.open(db, name)
  } catch (error) {
    await db.close()
    throw error
  }
}

async function openFile(config: BufferConfig, context: BufferContext): Promise<ExperienceBuffer> {
  let source = context.source
  let append: ExperienceFile['append'] | undefined
  if (!source) {
    const jsonl = await ExperienceFile.open(requiredPath(config))
    if (jsonl.repair) context.onRepair?.(jsonl.repair)
    source = jsonl
    append = (experiences) => jsonl.append(experiences)
  }
  const steps = config.total_steps
  const data = source
  const given = typeof context.order === 'function' ? await context.order(data.length) : context.order
  const order = given ?? new SequentialOrder(() => data.length)
  const total = () => (steps ? steps * (config.batch_size || 1) : data.length * (config.total_epochs ?? 1))
  return new FileBuffer({ name: config.name, source, order, total, append })
}

function timeoutMs(config: BufferConfig): number {
  return (config.max_read_timeout ?? DEFAULT_TIMEOUT_S) * 1000
}

function requiredPath(config: BufferConfig): string {
  if (config.path) return config.path
  throw new TrinityError('buffer/path', `buffer '${config.name}' of kind ${config.storage_type} needs a path`, {
    path: `${config.name}.path`,
  })
}
