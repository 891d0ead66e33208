import { writeFileSync } from 'node:fs'
import pc from 'picocolors'
import { TrinityError } from '../base/error.js'
import { machineFacts, type Problem, readConfig, resolveConfig } from '../config/index.js'
import { loadCatalog } from '../run/catalog.js'
import { usePlugins } from './plugins.js'
import { preflight } from './preflight.js'
import type { ExitCode } from './print.js'
import { problemLines, remarkLines } from './problem.js'

export interface CheckOptions {
  pluginDir?: string[]
  json?: boolean
  set?: string[]
}

interface Checked {
  file: string
  ok: boolean
  problems: readonly Problem[]
}

/** Every problem of every file. */
export async function configCheck(files: string[], options: CheckOptions): Promise<ExitCode> {
  await usePlugins(options.pluginDir)
  const read = files.map((file) => ({ file, result: attempt(() => readConfig(file, { set: options.set })) }))
  const catalog = await loadCatalog(read.flatMap(({ result }) => ('value' in result ? [result.value] : [])))
  const facts = machineFacts()
  const results: Checked[] = []
  for (const { file, result } of read) {
    const done = 'value' in result ? attempt(() => resolveConfig(result.value, facts, catalog)) : result
    if ('value' in result && 'value' in done) {
      const problems = [...(await preflight(result.value, done.value, facts)), ...done.value.remarks]
      results.push({ file, ok: problems.every(({ severity }) => severity !== 'error'), problems })
    } else if ('error' in done) results.push({ file, ok: false, problems: problemsOf(done.error, file) })
  }
  if (options.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`)
  else for (const result of results) print(result)
  return results.every((result) => result.ok) ? 0 : 2
}

function attempt<T>(work: () => T): { value: T } | { error: TrinityError } {
  try {
    return { value: work() }
  } catch (error) {
    if (!(error instanceof TrinityError)) throw error
    return { error }
  }
}

/** The problems in an error of the loader, which may be a single one. */
function problemsOf(error: TrinityError, file: string): readonly Problem[] {
  if ('problems' in error) return error.problems as readonly Problem[]
  return [
    {
      severity: 'error',
      code: error.code,
      key: '',
      message: error.message,
      hint: error.hint,
      mark: { file, line: 1, column: 1 },
    },
  ]
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
  if (output) writeFileSync(output, text)
  else process.stdout.write(text)
  return 0
}
