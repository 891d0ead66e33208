import { resolve } from 'node:path'
import { TrinityError } from '../base/error.js'
import { atomicFile } from '../base/file/atomic-file.js'
import { AXES } from '../sweep/index.js'
import { groupOf, plotRuns } from '../sweep/plot.js'
import type { ExitCode } from './print.js'

export interface PlotFlags {
  key?: string
  axis: string
  out: string
}

/** `trinity plot`: one chart of several runs. */
export async function plot(runs: readonly string[], { key, axis: given, out }: PlotFlags): Promise<ExitCode> {
  const axis = AXES.find((one) => one === given)
  if (axis === undefined) {
    throw new TrinityError('cli/usage', `--axis ${given} is not known`, {
      path: '--axis',
      hint: `one of ${AXES.join(', ')}`,
    })
  }
  const { table, svg } = plotRuns(runs.map(groupOf), key, axis)
  const file = resolve(out)
  await atomicFile(file, (handle) => handle.writeFile(svg))
  process.stdout.write(`${table}\n\n${file}\n`)
  return 0
}
