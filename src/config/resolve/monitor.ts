import { join } from 'node:path'
import type { Config } from '../section/config.js'
import { resolveArguments } from './arguments.js'
import type { Scope } from './scope.js'

const TYPE = 'monitor.monitor_type'

export function resolveMonitor(config: Config, scope: Scope): Config['monitor'] {
  const { monitor } = config
  const placed = { ...monitor, cache_dir: join(config.checkpoint_job_dir, 'monitor') }
  const { monitors } = scope.catalog
  const component = monitors.find(monitor.monitor_type)
  if (component) {
    const { monitor_args: args } = monitor
    return { ...placed, monitor_args: args && resolveArguments(component, args, 'monitor.monitor_args', scope) }
  }
  if (monitor.monitor_type === 'swanlab') {
    scope.error('value', TYPE, 'SwanLab is not part of this version', `use one of ${monitors.names().join(', ')}`)
  } else scope.unknownName(TYPE, 'monitor', monitor.monitor_type, monitors)
  return placed
}
