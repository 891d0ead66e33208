/** Where the numbers go: files, TensorBoard, services, the terminal. */

export { type MonitorContext, type MonitorEntry, monitorEntry } from './entry.js'
export { type MetricsRow, parseMetrics } from './metrics-file.js'
export type { Monitor } from './monitor.js'
export { type MonitorOptions, openMonitor } from './open.js'
export { monitors } from './registry.js'
export { createView, type ViewOptions } from './terminal/create.js'
export type { ViewStream } from './terminal/live.js'
export type { RunSummary, RunView } from './view.js'
