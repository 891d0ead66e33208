/** When the samplers get new weights, and the links over which they come. */

export { ApartExplorerSync } from './apart-explorer.js'
export { ApartTrainerSync } from './apart-trainer.js'
export type { LinkEnds, WeightLink } from './link/link.js'
export { type LinkOptions, openLink } from './link/open.js'
export { type SyncSchedule, scheduleOf } from './schedule.js'
export { type RoleState, type RoleStatus, StatusBoard } from './status.js'
export { Synchronizer, type SynchronizerParts, type SyncState, type Transfer } from './synchronizer.js'
export { takeLatest } from './take-latest.js'
