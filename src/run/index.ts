/** Puts a job together: opens models, buffers and monitors for each mode, resumes, stops, and ends. */

export { startOver } from './fresh.js'
export { type Leftovers, leftovers } from './leftovers.js'
export { type RunOptions, type RunResult, run } from './run.js'
export { listenToSignals, type StopSignals } from './signals.js'
export type { StageEnd } from './stage.js'
export { Stop } from './stop.js'
