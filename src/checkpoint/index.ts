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
