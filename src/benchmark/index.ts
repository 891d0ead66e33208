/**
 * The original's benchmark: configurations of its data sets, fitted to a machine, and the search of the longest sequences
 * that a machine can train with.
 */

export { type BenchmarkOptions, benchmarkYaml } from './configuration.js'
export { lengthSvg } from './length-chart.js'
export { type LengthTrial, largestOf, searchLength } from './length-search.js'
export { freeShare, tryLength } from './length-trial.js'
export { BENCHMARKS, templateOf } from './templates.js'
