import { argumentProblems } from '../base/arguments.js'
import { TrinityError } from '../base/error.js'
import { plain } from '../config/node.js'
import { parseValue } from '../config/yaml.js'
import { nameOf, readSweep, type SweepSpec, sweepSchema } from '../sweep/index.js'

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
    hint: fixOf(key, file),
  })
}

/** What to type instead; the message says what is wrong with it. */
function fixOf(key: string, file: string | undefined): string {
  const [part] = key.split('.')
  if (part === 'config') return 'give a sweep file, or one or more configurations with -c'
  const option = part === 'arms' ? '-c' : `--${part.replace('plugin_dirs', 'plugin-dir')}`
  return `give another ${option}${file === undefined ? '' : `, or change ${part} in ${file}`}; trinity sweep --help shows the options`
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

/** More runs than this nobody waits for. */
const MOST_SEEDS = 10_000

/** `1,2,3`, or `1-5`. */
function seedList(text: string): number[] {
  return text.split(',').flatMap((part) => {
    const [, from, to = from] = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(part) ?? []
    const count = Number(to) - Number(from) + 1
    if (from === undefined || count < 1 || count > MOST_SEEDS) {
      throw new TrinityError('cli/usage', `--seeds: '${part}' is ${count > MOST_SEEDS ? 'too many' : 'not a seed'}`, {
        path: '--seeds',
        hint: 'write 1,2,3 or 1-3',
      })
    }
    return Array.from({ length: count }, (_, i) => Number(from) + i)
  })
}
