/** Measures a job for some steps: how long it takes, how fast it is, and what it uses. */

export { type Measured, measure } from './measure.js'
export { readReport } from './read-report.js'
export { PERF_MODULES, type PerfModule, type PerfReport } from './report.js'
