/** What Studio says about the machine it runs on, and about measurements: in the words of `doctor --json` and `perf run`. */

export type { Report as MachineReport } from '../machine/doctor/check.js'
export type { GpuSample, PerfReport, ResourceSample } from '../perf/report.js'
