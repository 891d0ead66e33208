import pc from 'picocolors'
import { redact } from '../base/secret/index.js'
import { machineFacts, printConfig, type Resolved, readConfig, resolveConfig } from '../config/index.js'
import { type PlanLine, planOf, tooFewTasks } from '../config/plan.js'
import type { Facts } from '../config/resolve/facts.js'
import { concealed } from '../config/secret.js'
import { engineLookup } from '../engine/registry.js'
import { loadCatalog } from '../run/catalog.js'
import { singleAnswer } from '../run/single-answer.js'
import { usePlugins } from './plugins.js'
import type { ExitCode } from './print.js'
import { remarkLines } from './problem.js'
import { type StrayWatch, watchStrays } from './stray.js'
import { badVariables } from './variables.js'

export interface RunFlags {
  config: string
  pluginDir?: string[]
  dryRun?: boolean
  json?: boolean
  yaml?: boolean
  gpuMemory?: string
  set?: string[]
  fresh?: boolean
  yes?: boolean
}

export async function run(options: RunFlags): Promise<ExitCode> {
  const strays = watchStrays()
  try {
    return await runWatched(options, strays)
  } finally {
    strays.close()
  }
}

async function runWatched(options: RunFlags, strays: StrayWatch): Promise<ExitCode> {
  await usePlugins(options.pluginDir)
  const parsed = readConfig(options.config, { set: options.set })
  const facts = machineFacts()
  const resolved = resolveConfig(parsed, facts, await loadCatalog([parsed]))
  if (options.dryRun) {
    if (options.json) process.stdout.write(asJson(resolved))
    else process.stdout.write(asYaml(resolved))
    if (!options.json && !options.yaml) process.stdout.write(redact(await planText(resolved, facts, options)))
    return 0
  }
  const { execute } = await import('./execute.js')
  return execute(resolved, parsed, options, strays)
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
  const { cardOf, memoryOf } = await import('./memory.js')
  const card = await cardOf(options.gpuMemory)
  const memory = await Promise.all(resolved.stages.map(({ config }) => memoryOf(config, card)))
  const lines = memory.map((one) => one.lines)
  return asPlan(resolved, facts, lines, [
    ...(await stops(resolved, facts)),
    ...memory.flatMap(({ warnings }) => warnings.map((text) => `  ${pc.yellow('warning')} ${text}`)),
  ])
}

/** What a real run would stop at. A configuration of another version or with plugins may well name such things. */
async function stops({ stages }: Resolved, facts: Facts): Promise<string[]> {
  const { unknownNames } = await import('../run/names.js')
  const { missingColumns } = await import('../run/columns.js')
  const problems = stages.flatMap(({ config }) => unknownNames(config))
  const texts = problems.map(({ message, hint }) => `${message}${hint ? ` (${hint})` : ''}`)
  const columns = await Promise.all(stages.map(({ config }) => missingColumns(config)))
  for (const { key, error } of columns.flat()) texts.push(`${key}: ${error.message} (${error.hint})`)
  texts.push(...stages.flatMap(({ config }) => tooFewTasks(config, facts) ?? []))
  texts.push(...stages.flatMap(({ config }) => singleAnswer(config) ?? []), ...badVariables())
  return [...new Set(texts)].map((text) => `  ${pc.yellow('warning')} ${text}`)
}

/** What would happen, in words. */
function asPlan(
  { file, stages, remarks }: Resolved,
  facts: Facts,
  memory: readonly (readonly PlanLine[])[],
  warnings: readonly string[],
): string {
  const lines: string[] = []
  for (const [i, stage] of stages.entries()) {
    const of = stage.name === null ? '' : `, stage ${i + 1} of ${stages.length}: ${stage.name}`
    lines.push(pc.bold(`${file}${of}`))
    for (const [label, text] of planOf(stage, facts, engineLookup, memory[i]))
      lines.push(`  ${pc.cyan(label.padEnd(11))} ${text}`)
    lines.push('')
  }
  const told = [...warnings, ...remarkLines(remarks)]
  if (told.length > 0) lines.push(...told, '')
  lines.push(pc.dim('Nothing was run.'))
  // as comments, so that the whole output is still a configuration file
  const text = lines.join('\n').split('\n')
  return `\n${text.map((line) => `# ${line}`.trimEnd()).join('\n')}\n`
}
