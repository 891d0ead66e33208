import pc from 'picocolors'
import { TrinityError } from '../base/error.js'
import { usePlugins } from '../plugin/use.js'
import {
  isFinished,
  logOf,
  planSweep,
  runSweep,
  type SweepEnd,
  type SweepPlan,
  type SweepSpec,
  writeResults,
} from '../sweep/index.js'
import type { ExitCode } from './print.js'
import { optionsOf } from './suggestion.js'
import { type SweepFlags, specOf } from './sweep-options.js'

const say = (text: string) => void process.stdout.write(`${text}\n`)

/** `trinity sweep`: several runs, one table. */
export async function sweep(file: string | undefined, flags: SweepFlags): Promise<ExitCode> {
  const spec = specOf(file, flags)
  await usePlugins(spec.plugin_dirs.length > 0 ? spec.plugin_dirs : undefined)
  if (flags.dryRun) return show(await planSweep(spec))
  if (flags.fresh && !flags.yes) {
    throw new TrinityError('cli/fresh', '--fresh deletes what earlier runs of the sweep left', {
      hint: 'add --yes to delete it',
    })
  }
  const signals = listen()
  try {
    const program = [process.execPath, process.argv[1]]
    const end = await runSweep(spec, { program, isFresh: flags.fresh, say, ...signals })
    return await tell(end, spec, signals)
  } finally {
    signals.close()
  }
}

async function show({ dir, runs }: SweepPlan): Promise<ExitCode> {
  for (const run of runs) {
    say(`${(await isFinished(run)) ? pc.green('done ') : pc.dim('to do')} ${pc.bold(run.id)}`)
    say(`      trinity run ${optionsOf({ config: run.file, set: [...run.set] })}`)
  }
  say(`\n${runs.length} runs in ${dir}. Nothing was run.`)
  return 0
}

interface Signals {
  readonly stop: AbortSignal
  readonly now: AbortSignal
  close(): void
}

/** Ctrl-C once: the runs under way save and end. Twice: they end at once. */
function listen(): Signals {
  const [stop, now] = [new AbortController(), new AbortController()]
  const hear = () => {
    if (stop.signal.aborted) return now.abort()
    process.stderr.write('the runs under way finish their step and save; press Ctrl-C again to end them at once\n')
    stop.abort()
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, hear)
  return {
    stop: stop.signal,
    now: now.signal,
    close: () => {
      for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, hear)
    },
  }
}

async function tell({ plan, finished, failed, left }: SweepEnd, spec: SweepSpec, { stop }: Signals): Promise<ExitCode> {
  for (const { run, why } of failed) {
    process.stderr.write(`${pc.red('failed')} ${run.id}: ${why}\n  ${logOf(plan, run)}\n`)
  }
  if (left.length > 0) say(`\n${left.length} of ${plan.runs.length} runs are not done: the same command goes on`)
  const results = finished.length > 0 ? await writeResults(plan, finished, spec) : undefined
  if (results) say(`\n${results.table}\n\n${results.files.join('\n')}`)
  else if (finished.length > 0) say('the runs have no numbers to compare')
  if (stop.aborted && left.length > 0) return 130
  return failed.length + left.length > 0 ? 1 : 0
}
