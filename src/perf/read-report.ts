import { TrinityError } from '../base/error.js'
import { isJsonObject, readJsonObject } from '../base/file/json-file.js'
import type { PerfReport } from './report.js'

export async function readReport(path: string): Promise<PerfReport> {
  const report = await readJsonObject(path).catch((cause) => {
    throw new TrinityError('perf/report', `cannot read the report ${path}`, { path, cause })
  })
  const { timing, resource_timeline: resources, step_metrics: steps, status } = report ?? {}
  const isReport = isJsonObject(timing) && isJsonObject(status) && Array.isArray(resources) && Array.isArray(steps)
  if (isReport) return report as unknown as PerfReport
  throw new TrinityError('perf/report', `${path} is no report of a measurement`, {
    path,
    hint: '`trinity perf run --config FILE` writes one to perf/output.json',
  })
}
