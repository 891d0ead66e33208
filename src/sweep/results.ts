import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { atomicFile, writeJsonFile } from '../base/file/atomic-file.js'
import { nearest } from '../base/nearest.js'
import { chartSvg } from './chart.js'
import { type Arm, compare } from './compare.js'
import { RunNumbers } from './curve.js'
import type { PlannedRun, SweepPlan } from './plan.js'
import type { SweepSpec } from './spec.js'
import { tableText } from './table.js'

/** What came of a sweep, in words and as files. */
export interface SweepResults {
  readonly table: string
  readonly files: readonly string[]
}

/** Compares the runs that have ended; undefined: none has, or none has the number. */
export async function writeResults(
  { dir }: SweepPlan,
  ended: readonly PlannedRun[],
  { metric: wanted, axis }: Pick<SweepSpec, 'metric' | 'axis'>,
): Promise<SweepResults | undefined> {
  const numbers = ended.map((run) => ({ run, of: RunNumbers.of(run.config.checkpoint_job_dir) }))
  const metric = wanted ?? numbers.flatMap(({ of }) => of.defaultMetric() ?? [])[0]
  if (metric === undefined) return undefined
  const curves = numbers.map(({ run, of }) => ({ run, curve: of.curve(metric, axis) }))
  const arms: Arm[] = [...new Set(ended.map(({ arm }) => arm))].map((name) => {
    return { name, curves: curves.filter(({ run }) => run.arm === name).map(({ curve }) => curve) }
  })
  const comparison = compare(arms)
  if (!comparison)
    throw noNumbers(
      metric,
      numbers.flatMap(({ of }) => of.names()),
    )
  const table = tableText(comparison, metric, axis)
  const files = { table: join(dir, 'table.txt'), chart: join(dir, 'chart.svg'), all: join(dir, 'results.json') }
  await writeText(files.table, `${table}\n`)
  await writeText(files.chart, chartSvg(arms, comparison, metric, axis))
  await writeJsonFile(files.all, {
    metric,
    axis,
    ...comparison,
    runs: curves.map(({ run: { id, arm, seed }, curve }) => ({ id, arm, seed, curve })),
  })
  return { table, files: Object.values(files) }
}

/** Nobody has written this number. */
export function noNumbers(metric: string, names: readonly string[]): TrinityError {
  const near = nearest(metric, names)
  return new TrinityError('sweep/metric', `no run has the number '${metric}' on this axis`, {
    path: 'metric',
    hint: near ? `did you mean ${near}?` : 'monitor/explorer.jsonl of a run has all of them',
  })
}

function writeText(path: string, text: string): Promise<void> {
  return atomicFile(path, (handle) => handle.writeFile(text))
}
