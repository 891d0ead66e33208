export { ApartExplorerSync, ApartTrainerSync, takeLatest } from './apart.js'
export { type SyncSchedule, scheduleOf } from './schedule.js'
export { type RoleState, type RoleStatus, StatusBoard } from './status.js'
export { Synchronizer, type SynchronizerParts, type SyncState, type Transfer } from './synchronizer.js'
