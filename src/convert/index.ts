/** Checkpoints of other programs, read without executing anything in them, as Hugging Face directories. */

export { type ConvertOptions, type ConvertOutcome, checkpointIn, convertCheckpoint, convertSteps } from './convert.js'
export { openCheckpoint } from './open.js'
export type { Checkpoint, Piece, PieceTensor } from './pieces.js'
export { findSteps, parseSteps } from './steps.js'
export { checkTarget, takePlace } from './target.js'
