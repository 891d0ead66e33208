import pc from 'picocolors'
import { redact } from '../base/secret/index.js'
import {
  ConfigError,
  machineFacts,
  type Problem,
  printConfig,
  type Resolved,
  readConfig,
  resolveConfig,
} from '../config/index.js'
import { readText } from '../config/load.js'
import type { Facts } from '../config/resolve/facts.js'
import { concealed } from '../config/secret.js'
import { usePlugins } from '../plugin/use.js'
import { loadCatalog } from '../run/catalog.js'
import type { DryRun } from '../run/dry-run.js'
import { certain, preflight } from '../run/preflight/problems.js'
import { endWithStdin } from './owner.js'
import type { ExitCode } from './print.js'
import { remarkLines, warningLines } from './problem.js'
import { rememberFlags } from './suggestion.js'

export interface RunFlags {
  config: string
  /** The configuration itself, where it is in no file; `config` is its name then. */
  text?: string
  /** Where its log is then. */
  logDir?: string
  /** What to type to go on, where it is not `trinity run`. */
  command?: string
  /** The same with another value of a key of the configuration. */
  commandWith?: (key: string, value: number) => string
  /** Another way to say what names keys of the configuration. */
  words?: (text: string) => string
  /** The same for problems of the configuration. */
  problemWords?: (problem: Problem) => Problem
  pluginDir?: string[]
  dryRun?: boolean
  json?: boolean
  yaml?: boolean
  gpuMemory?: string
  set?: string[]
  fresh?: boolean
  yes?: boolean
  endWithStdin?: boolean
  /** As a job of a Ray cluster: at this address, or at the one of the configuration. */
  ray?: string | boolean
  /** On machines that a scheduler started together. */
  dlc?: boolean
}

export async function run(options: RunFlags): Promise<ExitCode> {
  if (options.endWithStdin) endWithStdin()
  if (options.ray && !options.dryRun) return (await import('./run-on-ray.js')).runOnRay(options)
  if (options.dlc && !options.dryRun) return (await import('./run-on-dlc.js')).runOnDlc(() => runHere(options))
  return runHere(options)
}

async function runHere(options: RunFlags): Promise<ExitCode> {
  rememberFlags(options)
  await usePlugins(options.pluginDir)
  const { config, text, set } = options
  const parsed = text === undefined ? readConfig(config, { set }) : readText(text, config, { set })
  const facts = machineFacts()
  const resolved = resolveConfig(parsed, facts, await loadCatalog([parsed]))
  const found = options.dryRun ? await preflight(parsed, resolved, facts) : await certain(parsed, resolved)
  if (found.some(({ severity }) => severity === 'error')) {
    throw new ConfigError(parsed.file, [...found, ...resolved.remarks])
  }
  const { problemWords = (one: Problem) => one } = options
  const told = { ...resolved, remarks: [...found, ...resolved.remarks].map(problemWords) }
  if (options.dryRun) {
    if (options.json) process.stdout.write(asJson(told))
    else process.stdout.write(asYaml(told))
    if (!options.json && !options.yaml) process.stdout.write(redact(await planText(told, facts, options)))
    return 0
  }
  const { execute } = await import('./execute.js')
  return execute(told, parsed, options)
}

function asJson({ file, stages, remarks }: Resolved): string {
  const shown = stages.map((stage) => ({ ...stage, config: concealed(stage.config) }))
  return `${JSON.stringify({ file, stages: shown, remarks }, null, 2)}\n`
}

/** One document for each stage, with `***` in place of secrets. */
function asYaml({ stages }: Resolved): string {
  return stages.map(({ config }) => printConfig(concealed(config))).join('---\n')
}

async function planText(resolved: Resolved, facts: Facts, options: RunFlags): Promise<string> {
  const [{ cardOf }, { dryRun }] = await Promise.all([import('../run/memory.js'), import('../run/dry-run.js')])
  return asPlan(resolved, await dryRun(resolved, facts, await cardOf(options.gpuMemory), options.fresh))
}

/** What would happen, in words. */
function asPlan({ file, remarks }: Resolved, { stages, warnings }: DryRun): string {
  const lines: string[] = []
  for (const [i, stage] of stages.entries()) {
    const of = stage.name === null ? '' : `, stage ${i + 1} of ${stages.length}: ${stage.name}`
    lines.push(pc.bold(`${file}${of}`))
    for (const [label, text] of stage.lines) lines.push(`  ${pc.cyan(label.padEnd(11))} ${text}`)
    lines.push('')
  }
  const told = [...warningLines(warnings), ...remarkLines(remarks)]
  if (told.length > 0) lines.push(...told, '')
  lines.push(pc.dim('Nothing was run.'))
  // as comments, so that the whole output is still a configuration file
  const text = lines.join('\n').split('\n')
  return `\n${text.map((line) => `# ${line}`.trimEnd()).join('\n')}\n`
}
