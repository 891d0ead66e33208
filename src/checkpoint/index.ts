/**
 * What is on disk at every moment: checkpoints written beside and renamed, their proof, the best evaluation, the lock
 * of a job.
 */

export type {
  BestEval,
  CheckpointParts,
  EvalRecord,
  FolderWriter,
  SavedCheckpoint,
  SavedWeights,
} from './checkpoint.js'
export { Checkpoints, type CheckpointsOptions } from './checkpoints.js'
export type { JobIdentity } from './identity.js'
export { stepsOnDisk } from './layout.js'
