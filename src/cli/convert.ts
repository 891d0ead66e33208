import { existsSync } from 'node:fs'
import { TrinityError } from '../base/error.js'
import type { ConvertOutcome } from '../convert/index.js'
import type { FileType } from '../model/gguf/file-type.js'
import { modelOf } from './model-of.js'
import type { ExitCode } from './print.js'

export interface ConvertCliOptions {
  checkpointDir: string
  baseModelDir?: string
  step?: string
  to?: string
  type?: string
  dtype?: string
  out?: string
  overwrite?: boolean
}

const TARGETS = ['hf', 'gguf', 'ollama'] as const

/** `trinity convert`: checkpoints to Hugging Face directories, models to GGUF and Ollama. */
export async function convert(options: ConvertCliOptions, write = console.log): Promise<ExitCode> {
  const to = options.to ?? 'hf'
  if (to === 'hf') {
    if (options.type !== undefined) throw usage('--type is for --to gguf and ollama', '--type')
    return options.out === undefined ? convertInPlace(options, write) : convertOne(options, options.out, write)
  }
  if (to === 'gguf' || to === 'ollama') return toGguf(options, to, write)
  throw usage(`cannot convert to '${to}'`, '--to', `one of ${TARGETS.join(', ')}`)
}

async function convertInPlace(options: ConvertCliOptions, write: (text: string) => void): Promise<ExitCode> {
  const { convertSteps, findSteps, parseSteps } = await import('../convert/index.js')
  const wanted = options.step === undefined ? undefined : parseSteps(options.step)
  const found = await findSteps(options.checkpointDir)
  const chosen = wanted ? found.filter(({ step }) => wanted.includes(step)) : found
  const absent = (wanted ?? []).filter((step) => !found.some((one) => one.step === step))
  if (found.length === 0) {
    throw new TrinityError('convert/none', `there is no global_step_* below ${options.checkpointDir}`, {
      path: options.checkpointDir,
      hint: 'give the folder of a run, or any other checkpoint with --out',
    })
  }
  const outcomes = await convertSteps(chosen, { base: options.baseModelDir, dtype: dtypeOf(options.dtype) })
  for (const outcome of outcomes) report(outcome, write)
  for (const step of absent) write(`failed     global_step_${step}: there is none`)
  const count = (result: ConvertOutcome['result']) => outcomes.filter((one) => one.result === result).length
  const failed = count('failed') + absent.length
  const total = outcomes.length + absent.length
  write(
    `${total} ${total === 1 ? 'checkpoint' : 'checkpoints'}: ${count('converted')} converted, ${count('finished')} finished before, ${failed} failed`,
  )
  return failed === 0 ? 0 : 1
}

function report({ path, result, note, error }: ConvertOutcome, write: (text: string) => void): void {
  write(`${result.padEnd(10)} ${path}: ${note}`)
  if (error?.hint) write(`           fix: ${error.hint}`)
}

async function convertOne(options: ConvertCliOptions, out: string, write: (text: string) => void): Promise<ExitCode> {
  if (options.step !== undefined) throw usage('--step and --out exclude each other', '--step')
  const { checkpointIn, checkTarget, convertCheckpoint, takePlace } = await import('../convert/index.js')
  if (!existsSync(options.checkpointDir)) throw usage(`there is nothing at ${options.checkpointDir}`, '-c')
  await checkTarget(options.checkpointDir, out, options)
  const { isGguf, unpackGguf } = await import('../model/gguf/index.js')
  if (isGguf(options.checkpointDir)) {
    const dtype = options.dtype === undefined ? 'keep' : dtypeOf(options.dtype)
    const mark = String(process.pid)
    await unpackGguf(options.checkpointDir, `${out}.${mark}`, { dtype, note: write })
    await takePlace(`${out}.${mark}`, out, mark)
    write(`converted  ${options.checkpointDir} to ${out}`)
    return 0
  }
  const base = options.baseModelDir
  const from = await checkpointIn(options.checkpointDir)
  const note = await convertCheckpoint(from, out, { base, dtype: dtypeOf(options.dtype) })
  write(`converted  ${from} to ${out}: ${note}`)
  return 0
}

function dtypeOf(name = 'bfloat16'): 'BF16' | 'keep' {
  if (name === 'bfloat16' || name === 'bf16') return 'BF16'
  if (name === 'keep') return name
  throw usage(`cannot write '${name}'`, '--dtype', 'bfloat16, or keep for what the checkpoint has')
}

async function toGguf(
  options: ConvertCliOptions,
  to: 'gguf' | 'ollama',
  write: (text: string) => void,
): Promise<ExitCode> {
  const { out, type = 'f16' } = options
  if (out === undefined)
    throw usage(`--to ${to} needs --out`, '--out', to === 'gguf' ? 'a file: model.gguf' : 'a folder')
  if (options.step !== undefined || options.dtype !== undefined)
    throw usage('--step and --dtype are for --to hf', '--to')
  const { exportGguf, exportOllama, fileTypes, isFileType } = await import('../model/gguf/index.js')
  if (!isFileType(type))
    throw usage(`there is no type '${type}'`, '--type', `one of ${Object.keys(fileTypes).join(', ')}`)
  const { checkTarget } = await import('../convert/index.js')
  await checkTarget(options.checkpointDir, out, options)
  const model = await modelOf(options.checkpointDir, { note: write })
  const exported = to === 'gguf' ? exportGguf : exportOllama
  for (const note of await exported(model, out, { type: type as FileType })) write(note)
  write(`converted  ${model} to ${out}`)
  return 0
}

function usage(message: string, path: string, hint?: string): TrinityError {
  return new TrinityError('cli/usage', message, { path, hint })
}
