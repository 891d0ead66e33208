import { type BufferKind, requiredPath, timeoutMs } from '../kind.js'
import { Noise } from '../priority/noise.js'
import { replayOf } from '../replay.js'
import { openTable } from './open-table.js'
import { SqlBuffer } from './sql-buffer.js'

export const sql: BufferKind = {
  doc: 'a table of a database, which several processes may share',
  async open(config, context) {
    return new SqlBuffer({
      name: config.name,
      table: await openTable(requiredPath(config), config.name, context),
      timeoutMs: timeoutMs(config),
      replay: replayOf(config),
      noise: new Noise(context.seed ?? 0),
      retry: { times: Math.max(1, config.max_retry_times ?? 3), intervalMs: (config.max_retry_interval ?? 1) * 1000 },
    })
  },
}
