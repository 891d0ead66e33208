import pc from 'picocolors'
import { argumentProblems } from '../base/arguments.js'
import { TrinityError } from '../base/error.js'
import { plain } from '../config/node.js'
import { parseValue } from '../config/yaml.js'
import {
  isFinished,
  logOf,
  nameOf,
  planSweep,
  readSweep,
  runSweep,
  type SweepEnd,
  type SweepPlan,
  type SweepSpec,
  sweepSchema,
  writeResults,
} from '../sweep/index.js'
import { usePlugins } from './plugins.js'
import type { ExitCode } from './print.js'
import { optionsOf } from './suggestion.js'

export interface SweepFlags {
  config?: string[]
  set?: string[]
  grid?: string[]
  seeds?: string
  metric?: string
  axis?: string
  parallel?: string
  name?: string
  pluginDir?: string[]
  fresh?: boolean
  yes?: boolean
  dryRun?: boolean
}

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

/** What a file says, and what the options add to it or say instead. */
export function specOf(file: string | undefined, flags: SweepFlags): SweepSpec {
  const base = file === undefined ? undefined : readSweep(file)
  const { config = [], set = [], grid = [], seeds, metric, axis, parallel, name, pluginDir = [] } = flags
  if (base && config.length > 0) {
    throw new TrinityError('cli/usage', 'a sweep file and -c are two ways to say what to run', {
      hint: 'put the configurations into the file as arms, or leave the file out',
    })
  }
  const arms = config.length > 1 ? Object.fromEntries(config.map((one) => [nameOf(one), { config: one }])) : {}
  const given = {
    ...(base ?? { name: 'sweep', config: config.length === 1 ? config[0] : undefined, arms }),
    set: { ...base?.set, ...Object.fromEntries(set.map((one) => pair('--set', one))) },
    grid: { ...base?.grid, ...Object.fromEntries(grid.map((one) => choices(one))) },
    plugin_dirs: [...(base?.plugin_dirs ?? []), ...pluginDir],
    ...defined({ name, metric, axis }),
    ...(seeds === undefined ? {} : { seeds: seedList(seeds) }),
    ...(parallel === undefined ? {} : { parallel: parallel === 'auto' ? parallel : Number(parallel) }),
  }
  if (config.length > Object.keys(arms).length && config.length > 1) {
    throw new TrinityError('cli/usage', 'two of the configurations have the same name', {
      path: '-c',
      hint: 'write a sweep file, in which arms have names of their own',
    })
  }
  const parsed = sweepSchema.safeParse(given)
  if (parsed.success) return parsed.data
  const [{ key, message }] = argumentProblems(sweepSchema, given, parsed.error.issues)
  throw new TrinityError('cli/usage', `${key}: ${message}`, {
    path: key,
    hint: 'give a sweep file, or one or more configurations with -c; trinity sweep --help shows the options',
  })
}

function defined(values: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  )
}

function pair(option: string, text: string): [string, unknown] {
  const equals = text.indexOf('=')
  if (equals > 0) return [text.slice(0, equals), plain(parseValue(text.slice(equals + 1), option))]
  throw new TrinityError('cli/usage', `what follows ${option} is not of the form key.path=value`, {
    path: option,
    hint: `write ${option} key.path=value, without spaces around the =`,
  })
}

/** `key=a,b,c`, or a list in YAML for values with commas. */
function choices(text: string): [string, unknown] {
  const [key, value] = pair('--grid', text)
  if (Array.isArray(value)) return [key, value]
  const list = text.slice(key.length + 1).split(',')
  return [key, list.map((one) => plain(parseValue(one, '--grid')))]
}

/** `1,2,3`, or `1-5`. */
function seedList(text: string): number[] {
  return text.split(',').flatMap((part) => {
    const [, from, to = from] = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(part) ?? []
    if (from === undefined || Number(to) < Number(from)) {
      throw new TrinityError('cli/usage', `--seeds: '${part}' is no seed`, {
        path: '--seeds',
        hint: 'write 1,2,3 or 1-3',
      })
    }
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => Number(from) + i)
  })
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
