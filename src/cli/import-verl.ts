import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { messageOf, TrinityError } from '../base/error.js'
import { importVerlText, type VerlImport } from '../import-verl/import.js'
import type { ExitCode } from './print.js'

export interface ImportVerlOptions {
  /** File to write; standard output without it. */
  output?: string
  /** Overwrite the output file. */
  force?: boolean
  /** Multiply numbers of steps by sync_interval, for the same amount of training as veRL. */
  scaleSteps?: boolean
}

/** `trinity import-verl SCRIPT`: returns the exit code; wrong use is a TrinityError for the caller to print (exit code 2). */
export async function importVerl(script: string, options: ImportVerlOptions = {}): Promise<ExitCode> {
  const name = script === '-' ? 'standard input' : basename(script)
  const result = importVerlText(await readInput(script), { name, scaleSteps: options.scaleSteps })
  if (options.output === undefined || options.output === '-') process.stdout.write(result.yaml)
  else await save(options.output, result.yaml, options.force ?? false)
  process.stderr.write(report(result, options.output))
  return 0
}

async function readInput(script: string): Promise<string> {
  try {
    if (script !== '-') return await readFile(script, 'utf8')
    const chunks: Buffer[] = []
    for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
    return Buffer.concat(chunks).toString('utf8')
  } catch (error) {
    throw new TrinityError('verl/unreadable', `cannot read ${script}: ${messageOf(error)}`, {
      path: script,
      hint: 'give a veRL launch script or YAML file, or - for standard input',
      cause: error,
    })
  }
}

async function save(output: string, yaml: string, force: boolean): Promise<void> {
  if (existsSync(output) && !force) {
    throw new TrinityError('verl/output-exists', `${output} already exists`, {
      path: output,
      hint: 'choose another -o, or add --force to overwrite it',
    })
  }
  try {
    await writeFile(output, yaml)
  } catch (error) {
    throw new TrinityError('verl/unwritable', `cannot write ${output}: ${messageOf(error)}`, {
      path: output,
      cause: error,
    })
  }
}

/** What a person has to know besides the file, for standard error. */
export function report(result: VerlImport, output?: string): string {
  const lines: string[] = []
  if (output !== undefined && output !== '-') lines.push(`wrote ${output}`)
  for (const note of result.notes) lines.push(`note: ${note}`)
  if (result.missing.length > 0) lines.push(`${result.missing.length} settings have no counterpart in Trinity:`)
  for (const { key, raw, reason } of result.missing) lines.push(`  ${key}=${raw}: ${reason}`)
  return lines.length > 0 ? `${lines.join('\n')}\n` : ''
}
