import { TrinityError } from '../base/error.js'
import type { Logger } from '../base/log/logger.js'
import type { Config } from '../config/index.js'
import type { MonitorEntry } from './entry.js'
import { GuardedMonitor, type Part } from './guarded.js'
import { LocalMonitor } from './local.js'
import type { Monitor } from './monitor.js'
import { monitors } from './registry.js'

export interface MonitorOptions {
  readonly config: Config
  /** explorer, trainer, … */
  readonly role: string
  readonly logger: Logger
}

/** The monitor of one role. Wrong settings are an error; whatever goes wrong later is logged and stops nothing. */
export async function openMonitor({ config, role, logger }: MonitorOptions): Promise<Monitor> {
  const { monitor_type: type, monitor_args: given, cache_dir: dir } = config.monitor
  const entry = entryOf(type)
  const args = monitors.parse(type, given, 'monitor.monitor_args')
  if (type === 'none') return new GuardedMonitor([], logger)
  const local = new LocalMonitor(dir, role)
  const parts: Part[] = [{ name: 'jsonl', monitor: local }]
  const chosen = await entry.open(args as never, { config, role, dir, logger, history: () => local.rows() })
  if (chosen) parts.push({ name: type, monitor: chosen })
  return new GuardedMonitor(parts, logger)
}

function entryOf(type: string): MonitorEntry {
  const path = 'monitor.monitor_type'
  if (type === 'swanlab') {
    throw new TrinityError('config/monitor', 'SwanLab is not part of this version', {
      path,
      hint: `use one of ${monitors.names().join(', ')}`,
    })
  }
  return monitors.get(type)
}
