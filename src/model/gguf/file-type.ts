import { ROUTER } from './names.js'
import type { WritableType } from './quantize.js'
import { ggufTypes } from './types.js'

/** What `--type` names: ggml's number of the kind of file, and the type of each matrix. */
export const fileTypes = {
  f32: { number: 0, main: 'F32' },
  f16: { number: 1, main: 'F16' },
  bf16: { number: 32, main: 'BF16' },
  q8_0: { number: 7, main: 'Q8_0' },
  q4_0: { number: 2, main: 'Q4_0' },
  q4_k_m: { number: 15, main: 'Q4_K' },
} as const satisfies Record<string, { number: number; main: WritableType }>

export type FileType = keyof typeof fileTypes

export function isFileType(name: string): name is FileType {
  return Object.hasOwn(fileTypes, name)
}

/** As llama.cpp chooses: vectors and routers stay f32; what the head multiplies with, and half of the sensitive matrices of q4_k_m, get more bits. */
export function typeOf(
  file: FileType,
  name: string,
  shape: readonly number[],
  model: { layers: number; tied: boolean },
): WritableType {
  if (shape.length < 2 || name.includes(ROUTER)) return 'F32'
  const { main } = fileTypes[file]
  const isHead = name === 'output.weight' || (model.tied && name === 'token_embd.weight')
  return fitting(
    file === 'q4_0' && isHead ? 'Q6_K' : main === 'Q4_K' && (isHead || needsMore(name, model.layers)) ? 'Q6_K' : main,
    shape,
  )
}

/** The first and the last eighth of the layers, and every third between. */
function needsMore(name: string, layers: number): boolean {
  const [, layer] = /^blk\.(\d+)\.(?:attn_v|attn_qkv|ffn_down(?:_exps)?)\.weight$/.exec(name) ?? []
  if (layer === undefined) return false
  const [i, eighth] = [Number(layer), Math.floor(layers / 8)]
  return i < eighth || i >= Math.floor((7 * layers) / 8) || (i - eighth) % 3 === 2
}

/** A row must be whole blocks; where it is not, a type with smaller blocks takes its place. */
function fitting(type: WritableType, shape: readonly number[]): WritableType {
  const smaller: Partial<Record<WritableType, WritableType>> = {
    Q4_K: 'Q5_0',
    Q6_K: 'Q8_0',
    Q5_0: 'F16',
    Q8_0: 'F16',
    Q4_0: 'F16',
  }
  let fit = type
  while ((shape.at(-1) ?? 1) % ggufTypes.get(fit)!.block !== 0) fit = smaller[fit] ?? 'F32'
  return fit
}
