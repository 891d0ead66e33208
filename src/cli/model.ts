import { TrinityError } from '../base/error.js'
import { nearest } from '../base/nearest.js'
import { type Family, families, type ModelHead } from '../model/architecture.js'
import { createModel } from '../model/create.js'
import { floatDtype } from '../model/dtype.js'
import { describeModel, renderModel } from '../model/info.js'
import { parseNewTokenizer } from '../model/new-tokenizer.js'
import type { ExitCode } from './print.js'

/** Options as the command line gives them: text. */
export interface ModelNewOptions {
  out: string
  arch?: string
  head?: string
  layers?: string
  hidden?: string
  heads?: string
  kvHeads?: string
  headDim?: string
  intermediate?: string
  vocab?: string
  maxPositions?: string
  tokenizer?: string
  chatTemplate?: string
  seed?: string
  dtype?: string
  tie?: boolean
  force?: boolean
}

export async function modelNew(options: ModelNewOptions): Promise<ExitCode> {
  const dtype = floatDtype(options.dtype ?? 'f32')
  if (!dtype) throw new TrinityError('cli/dtype', `unknown dtype '${options.dtype}'`, { hint: 'use f32, f16 or bf16' })
  const { config, parameters } = await createModel({
    out: options.out,
    arch: oneOf<Family>('--arch', options.arch ?? 'llama', families),
    head: oneOf<ModelHead>('--head', options.head ?? 'lm', ['lm', 'sequence', 'token']),
    layers: count('--layers', options.layers),
    hidden: count('--hidden', options.hidden),
    heads: count('--heads', options.heads),
    kvHeads: count('--kv-heads', options.kvHeads),
    headDim: count('--head-dim', options.headDim),
    intermediate: count('--intermediate', options.intermediate),
    vocab: count('--vocab', options.vocab),
    maxPositions: count('--max-positions', options.maxPositions),
    tokenizer: parseNewTokenizer(options.tokenizer ?? 'bytes'),
    chatTemplate: options.chatTemplate,
    seed: count('--seed', options.seed),
    dtype,
    tie: options.tie,
    force: options.force,
  })
  process.stdout.write(`${options.out}: ${config.architecture}, ${parameters.toLocaleString('en')} parameters\n`)
  return 0
}

export async function modelInfo(dir: string, options: { json?: boolean }): Promise<ExitCode> {
  const info = await describeModel(dir)
  process.stdout.write(`${options.json ? JSON.stringify(info, null, 2) : renderModel(info)}\n`)
  return 0
}

function count(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new TrinityError('cli/number', `${option} is '${text}'; expected a whole number`, { path: option })
}

function oneOf<T extends string>(option: string, text: string, choices: readonly T[]): T {
  if ((choices as readonly string[]).includes(text)) return text as T
  const near = nearest(text, choices)
  throw new TrinityError('cli/choice', `${option} is '${text}'`, {
    path: option,
    hint: (near ? `did you mean '${near}'? ` : '') + `choose from ${choices.join(', ')}`,
  })
}
