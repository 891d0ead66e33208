import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { chartSvg } from './chart.js'
import { type Arm, compare } from './compare.js'
import { RunNumbers } from './curve.js'
import { noNumbers } from './results.js'
import type { Axis } from './spec.js'
import { tableText } from './table.js'

/** Runs that are drawn as one curve. */
export interface RunGroup {
  readonly name: string
  readonly dirs: readonly string[]
}

export interface Plot {
  readonly metric: string
  readonly table: string
  readonly svg: string
}

/** `NAME=DIR,DIR`, or a folder that is called what it is called. */
export function groupOf(text: string): RunGroup {
  const equals = text.indexOf('=')
  if (equals < 0) return { name: basename(text.replace(/\/+$/, '')), dirs: [text] }
  return { name: text.slice(0, equals), dirs: text.slice(equals + 1).split(',') }
}

/** One chart of several runs: the mean of each group, and one deviation to both sides. */
export function plotRuns(groups: readonly RunGroup[], wanted: string | undefined, axis: Axis): Plot {
  const numbers = groups.map(({ name, dirs }) => ({ name, of: dirs.map(numbersOf) }))
  const all = numbers.flatMap(({ of }) => of)
  const metric = wanted ?? all.flatMap((one) => one.defaultMetric() ?? [])[0] ?? 'rollout/reward/mean'
  const arms: Arm[] = numbers.map(({ name, of }) => ({ name, curves: of.map((one) => one.curve(metric, axis)) }))
  const comparison = compare(arms)
  if (!comparison) {
    throw noNumbers(
      metric,
      all.flatMap((one) => one.names()),
    )
  }
  return { metric, table: tableText(comparison, metric, axis), svg: chartSvg(arms, comparison, metric, axis) }
}

function numbersOf(dir: string): RunNumbers {
  if (existsSync(join(dir, 'monitor'))) return RunNumbers.of(dir)
  throw new TrinityError('plot/run', `there is no run in '${dir}'`, {
    path: dir,
    hint: 'give the folder of a run, the one that has monitor/ in it: <checkpoint_root_dir>/<project>/<group>/<name>',
  })
}
