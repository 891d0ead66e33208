/**
 * Several runs as one: which there are, how many at a time, and what came of them. Every run is a job of its own in a
 * process of its own; what is known of it is read from its folder, so a sweep that was killed goes on where it was.
 */

export { readSweep } from './file.js'
export { nameOf } from './grid.js'
export { isFinished, type PlannedRun, planSweep, type SweepPlan } from './plan.js'
export { type SweepResults, writeResults } from './results.js'
export { AXES, type Axis, type SweepSpec, sweepSchema } from './spec.js'
export { logOf, runSweep, type SweepEnd, type SweepOptions } from './sweep.js'
