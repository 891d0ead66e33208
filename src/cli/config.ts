import pc from 'picocolors'
import { readConfig } from '../config/index.js'
import { usePlugins } from '../plugin/use.js'
import { type Checked, checkConfigs } from '../run/check.js'
import type { ExitCode } from './print.js'
import { problemLines, remarkLines } from './problem.js'
import { writeOutput } from './write-output.js'

export interface CheckOptions {
  pluginDir?: string[]
  json?: boolean
  set?: string[]
}

/** Every problem of every file. */
export async function configCheck(files: string[], options: CheckOptions): Promise<ExitCode> {
  await usePlugins(options.pluginDir)
  const found = await checkConfigs(files.map((file) => ({ file, read: () => readConfig(file, { set: options.set }) })))
  const results = found.map(({ file, ok, problems }) => ({ file, ok, problems }))
  if (options.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
  else for (const result of results) print(result)
  return results.every((result) => result.ok) ? 0 : 2
}

function print({ file, ok, problems }: Checked): void {
  const errors = problems.filter((problem) => problem.severity === 'error')
  const head = ok ? `${pc.green('ok')}   ${file}` : `${pc.red('bad')}  ${file}`
  const lines = [head, ...problemLines(errors), ...remarkLines(problems.filter((one) => one.severity !== 'error'))]
  process.stdout.write(`${lines.join('\n')}\n`)
}

export interface PrintFlags {
  output?: string
}

export async function configSchema(options: PrintFlags): Promise<ExitCode> {
  const { jsonSchema } = await import('../config/json-schema.js')
  return write(`${JSON.stringify(jsonSchema(), null, 2)}\n`, options)
}

export async function configDocs(options: PrintFlags): Promise<ExitCode> {
  const { configReference } = await import('../config/docs.js')
  return write(configReference(), options)
}

function write(text: string, { output }: PrintFlags): ExitCode {
  if (output) writeOutput(output, text)
  else process.stdout.write(text)
  return 0
}
