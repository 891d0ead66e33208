import { TrinityError } from '../base/error.js'
import { isJsonObject, readJsonObject } from '../base/file/json-file.js'
import type { PerfReport } from './report.js'

const HINT = '`trinity perf run --config FILE` writes one to perf/output.json'

export async function readReport(path: string): Promise<PerfReport> {
  const report = await readJsonObject(path).catch((cause) => {
    throw new TrinityError('perf/report', `cannot read the report ${path}`, { path, cause, hint: HINT })
  })
  if (report === undefined) {
    throw new TrinityError('perf/report', `there is no report ${path}`, { path, hint: HINT })
  }
  const { run_meta: meta, timing, resource_timeline: resources, step_metrics: steps, status } = report
  const isReport =
    [meta, timing, status].every(isJsonObject) &&
    [resources, steps].every((list) => Array.isArray(list) && list.every(isJsonObject))
  if (isReport) return report as unknown as PerfReport
  throw new TrinityError('perf/report', `${path} is no report of a measurement`, { path, hint: HINT })
}
