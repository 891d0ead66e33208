import { type BufferKind, timeoutMs } from '../kind.js'
import { Noise } from '../priority/noise.js'
import { replayOf } from '../replay.js'
import { FifoOrder } from './fifo-order.js'
import { openKeeper } from './open-keeper.js'
import { PriorityOrder } from './priority-order.js'
import { QueueBuffer } from './queue-buffer.js'

export const queue: BufferKind = {
  doc: 'in memory, with a file or a database table beside it when `path` names one',
  async open(config, context) {
    const capacity = config.capacity ?? 10_000
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
  },
}
