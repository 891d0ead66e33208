import type { GgufFile } from './file.js'
import type { GgufTensor } from './header.js'
import type { GgufType } from './types.js'

export const EMBEDDING = 'token_embd.weight'
const HEAD = 'output.weight'

/** Elements that are compared at a time: whole blocks of every type. */
const PORTION = 1 << 18
/** Portions of a large matrix that are compared, evenly spread: 16 million elements. */
const PORTIONS = 64
/** Least cosine of a matrix in two quantizations. That of 4 bits is 0.996 to 0.998, that of different matrices near 0. */
const SAME = 0.99
/** Types of 2 and 3 bits err more. */
const COARSE: readonly GgufType[] = ['Q2_K', 'Q3_K']
const SAME_COARSE = 0.95
/** Floats differ by their rounding only. */
const FLOATS: readonly GgufType[] = ['F32', 'F16', 'BF16']
const SAME_FLOATS = 0.99999

/** One matrix that a file stores twice, as embedding and as head. */
export interface TiedHead {
  /** The tensor of the finer type. */
  readonly kept: GgufTensor
  readonly dropped: GgufTensor
  readonly cosine: number
}

/** Latest result: a model is opened several times in a row. */
let latest: { readonly identity: string; readonly result: Promise<TiedHead | undefined> } | undefined

/** Finds out whether a file stores a tied matrix twice: llama.cpp quantizes embedding and head to different types. */
export function tiedHead(file: GgufFile): Promise<TiedHead | undefined> {
  if (latest?.identity !== file.identity) {
    const result = compare(file)
    result.catch(() => {
      latest = undefined
    })
    latest = { identity: file.identity, result }
  }
  return latest.result
}

/** Says which tensor of a tied matrix is kept. */
export function tiedNote({ kept, dropped, cosine }: TiedHead): string {
  const [one, other] = [kept, dropped].map(({ name, type }) => `${name} (${type.name})`)
  return `embedding and head are one matrix (cosine ${cosine.toFixed(4)}): ${one} is kept, ${other} is dropped`
}

async function compare(file: GgufFile): Promise<TiedHead | undefined> {
  const [embedding, head] = [file.tensors.get(EMBEDDING), file.tensors.get(HEAD)]
  if (!embedding || !head || embedding.shape.join() !== head.shape.join()) return undefined
  const cosine = await cosineOf(file, embedding, head)
  if (!(cosine >= leastCosine(embedding.type.name, head.type.name))) return undefined
  const [kept, dropped] = bitsOf(head) > bitsOf(embedding) ? [head, embedding] : [embedding, head]
  return { kept, dropped, cosine }
}

const bitsOf = ({ type }: GgufTensor): number => (type.bytes * 8) / type.block

function leastCosine(...types: GgufType[]): number {
  if (types.some((type) => COARSE.includes(type))) return SAME_COARSE
  return types.every((type) => FLOATS.includes(type)) ? SAME_FLOATS : SAME
}

/** Cosine of two tensors as vectors, or of samples of large ones; 0 as soon as a portion shows that they differ. */
async function cosineOf(file: GgufFile, one: GgufTensor, other: GgufTensor): Promise<number> {
  let [product, squareA, squareB] = [0, 0, 0]
  const cosine = () => product / Math.sqrt(squareA * squareB)
  const all = Math.ceil(one.size / PORTION)
  for (let i = 0; i < Math.min(all, PORTIONS); i++) {
    const from = Math.floor(i * Math.max(1, all / PORTIONS)) * PORTION
    const count = Math.min(PORTION, one.size - from)
    const a = await file.readElements(one.name, from, count)
    const b = await file.readElements(other.name, from, count)
    for (let j = 0; j < count; j++) {
      product += a[j] * b[j]
      squareA += a[j] * a[j]
      squareB += b[j] * b[j]
    }
    if (cosine() < SAME_COARSE / 2) return 0
  }
  return cosine()
}
