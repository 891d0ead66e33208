import { join } from 'node:path'
import type { MonitorContext } from '../entry.js'
import type { Monitor } from '../monitor.js'
import { fileName } from '../names.js'
import { Delivered } from './delivered.js'
import type { Remote } from './remote.js'
import { RemoteMonitor } from './remote-monitor.js'

/** A monitor that sends to a service; `<dir>/<role>.<name>.json` remembers what has arrived. */
export function openRemote(name: string, remote: Remote, { dir, role, logger, history }: MonitorContext): Monitor {
  const delivered = new Delivered(join(dir, `${fileName(role)}.${name}.json`))
  return new RemoteMonitor({ name, remote, delivered, logger, history })
}
