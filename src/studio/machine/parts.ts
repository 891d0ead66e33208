import { TrinityError } from '../../base/error.js'
import { redactAll, rememberEnvironment } from '../../base/secret/index.js'
import type { MachineReport, PerfReport } from '../api.js'
import type { Part } from '../part.js'

/** A report of `trinity perf run`, and the file it was read from. */
export interface ShownReport {
  readonly path: string
  readonly report: PerfReport
}

/** The doctor starts programs: nobody needs that more often. */
const FRESH_MS = 30_000

/** The engines and the doctor are loaded when somebody asks: Studio starts without them. */
async function lookHere(): Promise<MachineReport> {
  const [{ engineLookup }, { examine }] = await Promise.all([
    import('../../engine/registry.js'),
    import('../../machine/doctor/examine.js'),
  ])
  return examine(engineLookup.all())
}

/** What this machine can run, and a measurement that was made somewhere. */
export function machineParts(shown: ShownReport | undefined, look: () => Promise<MachineReport> = lookHere): Part[] {
  let known: { at: number; report: Promise<MachineReport> } | undefined
  return [
    {
      path: '/machine',
      answer: async () => {
        const now = performance.now()
        if (!known || now - known.at > FRESH_MS) known = { at: now, report: look() }
        rememberEnvironment(process.env)
        return redactAll(await known.report)
      },
    },
    {
      path: '/report',
      answer: async () => {
        if (shown) return redactAll(shown.report)
        throw new TrinityError('studio/no-report', 'Studio was not asked to show a report', {
          hint: 'trinity perf view --report perf/output.json',
        })
      },
    },
  ]
}
