import pc from 'picocolors'
import { loadCatalog, machineFacts, printConfig, type Resolved, readConfig, resolveConfig } from '../config/index.js'
import { planOf } from '../config/plan.js'
import type { Facts } from '../config/resolve/facts.js'
import { usePlugins } from './plugins.js'
import type { ExitCode } from './print.js'
import { remarkLines } from './problem.js'

export interface RunOptions {
  config: string
  pluginDir?: string
  dryRun?: boolean
  json?: boolean
  yaml?: boolean
  set?: string[]
  fresh?: boolean
  yes?: boolean
}

export async function run(options: RunOptions): Promise<ExitCode> {
  await usePlugins(options.pluginDir)
  const parsed = readConfig(options.config, { set: options.set })
  const facts = machineFacts()
  const resolved = resolveConfig(parsed, facts, await loadCatalog([parsed]))
  if (options.dryRun) {
    process.stdout.write(options.json ? asJson(resolved) : options.yaml ? asYaml(resolved) : asPlan(resolved, facts))
    return 0
  }
  const { execute } = await import('./execute.js')
  return execute(resolved, parsed, options)
}

function asJson({ file, stages, remarks }: Resolved): string {
  return `${JSON.stringify({ file, stages, remarks }, null, 2)}\n`
}

/** One document for each stage. */
function asYaml({ stages }: Resolved): string {
  return stages.map(({ config }) => printConfig(config)).join('---\n')
}

function asPlan({ file, stages, remarks }: Resolved, facts: Facts): string {
  const lines: string[] = []
  for (const [i, stage] of stages.entries()) {
    const of = stage.name === null ? '' : `, stage ${i + 1} of ${stages.length}: ${stage.name}`
    lines.push(pc.bold(`${file}${of}`))
    for (const [label, text] of planOf(stage, facts)) lines.push(`  ${pc.cyan(label.padEnd(11))} ${text}`)
    lines.push('')
  }
  if (remarks.length > 0) lines.push(...remarkLines(remarks), '')
  lines.push(pc.dim('Nothing was run. --yaml or --json shows every key.'))
  return `${lines.join('\n')}\n`
}
