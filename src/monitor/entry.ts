import type { z } from 'zod'
import type { Logger } from '../base/log/logger.js'
import type { Config } from '../config/index.js'
import type { MetricsRow } from './metrics-file.js'
import type { Monitor } from './monitor.js'

/** What a monitor may use beside its arguments. */
export interface MonitorContext {
  readonly config: Config
  /** explorer, trainer, … Each has a monitor of its own. */
  readonly role: string
  /** `<job>/monitor`; it need not exist yet. */
  readonly dir: string
  readonly logger: Logger
  /** What is on record so far, oldest first: a resumed run can send what has not arrived. */
  history(): MetricsRow[]
}

/** A kind of monitor, by its name in `monitor.monitor_type`. */
export interface MonitorEntry {
  /** One line for people. */
  readonly doc: string
  /** `monitor.monitor_args`, with a default for every one. Unknown names are refused. */
  readonly args: z.ZodObject
  /** Must not wait for a network: what fails later is reported, and the run goes on. Undefined: nothing to do. */
  open(args: never, context: MonitorContext): Monitor | undefined | Promise<Monitor | undefined>
}

/** Describes a monitor for the registry; `open` gets its arguments checked and with their types. */
export function monitorEntry<S extends z.ZodObject>(entry: {
  doc: string
  args: S
  open(args: z.output<S>, context: MonitorContext): Monitor | undefined | Promise<Monitor | undefined>
}): MonitorEntry {
  return entry
}
