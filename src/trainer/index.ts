export type { Snapshot, TrainerEnd, TrainerParts, TrainerState, TrainerSync } from './parts.js'
