import { TrinityError } from '../base/error.js'
import { converted, type Dtype, dtypeBytes, type FloatDtype } from '../model/dtype.js'
import type { ElementRange } from '../model/tensor-source.js'

/** A rectangle of a tensor that one file holds. */
export interface Piece {
  readonly offsets: readonly number[]
  readonly sizes: readonly number[]
  /** Its elements, row after row; or only those from one to another. */
  readonly read: (range?: ElementRange) => Promise<Uint8Array>
}

/** A tensor in pieces, as the ranks of a training run wrote it. */
export interface PieceTensor {
  readonly name: string
  readonly dtype: Dtype
  readonly shape: readonly number[]
  readonly pieces: readonly Piece[]
}

/** What was found in a folder: tensors under the names of Hugging Face. */
export interface Checkpoint {
  readonly path: string
  /** `fsdp`, `dcp`, `megatron`, …: what the report says. */
  readonly kind: string
  readonly tensors: ReadonlyMap<string, PieceTensor>
  close(): Promise<void>
}

const floats: readonly Dtype[] = ['F32', 'F16', 'BF16', 'F64']

/** What a tensor is written as: floats as `wanted`, everything else as it is. */
export function writtenDtype(dtype: Dtype, wanted: FloatDtype | 'keep'): Dtype {
  return wanted === 'keep' || !floats.includes(dtype) ? dtype : wanted
}

/** Elements that are converted at a time. */
const PORTION = 1 << 22

/** Puts a tensor together as `dtype`, portion by portion: there is the result, and little else. */
export async function assemble(tensor: PieceTensor, dtype: Dtype, path: string): Promise<Uint8Array> {
  checkCover(tensor, path)
  const width = dtypeBytes[dtype]
  const out = new Uint8Array(count(tensor.shape) * width)
  for (const piece of tensor.pieces) {
    for (const part of portions(piece)) {
      place(converted(await readPart(part, tensor, path), tensor.dtype, dtype), part, tensor.shape, out, width)
    }
  }
  return out
}

/** Whole rows of a piece, as many as make a portion. */
function* portions(piece: Piece): Generator<Piece & { range: ElementRange }> {
  const [rows = 1, ...rest] = piece.sizes
  const row = count(rest)
  const step = Math.max(1, Math.floor(PORTION / row))
  for (let from = 0; from < rows; from += step) {
    const to = Math.min(rows, from + step)
    const range = [from * row, to * row] as const
    if (piece.sizes.length === 0) yield { ...piece, range }
    else {
      const [offsets, sizes] = [piece.offsets.with(0, piece.offsets[0] + from), piece.sizes.with(0, to - from)]
      yield { ...piece, offsets, sizes, range }
    }
  }
}

async function readPart(
  { read, range, sizes }: Piece & { range: ElementRange },
  { name, dtype }: PieceTensor,
  path: string,
): Promise<Uint8Array> {
  const bytes = await read(range)
  if (bytes.byteLength === count(sizes) * dtypeBytes[dtype]) return bytes
  throw new TrinityError('convert/pieces', `a piece of '${name}' has ${bytes.byteLength} bytes`, { path })
}

/** Copies a rectangle into its place, one run of neighbors at a time. */
function place(
  bytes: Uint8Array,
  { offsets, sizes }: Piece,
  shape: readonly number[],
  out: Uint8Array,
  width: number,
): void {
  // Trailing dimensions that a piece holds completely are one run.
  let axis = shape.length - 1
  let run = width
  while (axis > 0 && sizes[axis] === shape[axis]) run *= shape[axis--]
  const strides = shape.map((_, i) => count(shape.slice(i + 1)) * width)
  const length = axis < 0 ? width : run * sizes[axis]
  const index = new Array<number>(Math.max(0, axis)).fill(0)
  for (let from = 0; from < bytes.byteLength; from += length) {
    let to = axis < 0 ? 0 : offsets[axis] * strides[axis]
    for (let i = 0; i < axis; i++) to += (offsets[i] + index[i]) * strides[i]
    out.set(bytes.subarray(from, from + length), to)
    for (let i = axis - 1; i >= 0 && ++index[i] === sizes[i]; i--) index[i] = 0
  }
}

export const count = (shape: readonly number[]): number => shape.reduce((size, n) => size * n, 1)

/** Pieces lie inside, do not overlap, and fill the tensor. */
function checkCover({ name, shape, pieces }: PieceTensor, path: string): void {
  const wrong = (what: string) =>
    new TrinityError('convert/pieces', `tensor '${name}' ${what}`, {
      path,
      hint: 'a rank is missing, or files of different checkpoints are mixed',
    })
  let sum = 0
  for (const { offsets, sizes } of pieces) {
    const fits = sizes.length === shape.length && sizes.every((n, i) => offsets[i] + n <= shape[i])
    if (!fits) throw wrong(`of [${shape}] has a piece of [${sizes}] at [${offsets}]`)
    sum += count(sizes)
  }
  if (sum !== count(shape)) throw wrong(`has ${count(shape)} elements, its pieces have ${sum}`)
  const apart = (a: Piece, b: Piece) =>
    shape.some((_, i) => a.offsets[i] + a.sizes[i] <= b.offsets[i] || b.offsets[i] + b.sizes[i] <= a.offsets[i])
  // Ranks are few; a checkpoint with thousands of pieces of one tensor is still compared in a second.
  for (const [i, a] of pieces.entries()) {
    for (const b of pieces.slice(i + 1)) if (shape.length > 0 && !apart(a, b)) throw wrong('has pieces that overlap')
  }
}

/** Rows of a tensor as a tensor of its own, under another name. */
export function rowsOf(tensor: PieceTensor, name: string, from: number, to: number): PieceTensor {
  const rows = to - from
  const pieces = tensor.pieces.flatMap((piece): Piece[] => {
    const [start, end] = [Math.max(piece.offsets[0], from), Math.min(piece.offsets[0] + piece.sizes[0], to)]
    if (start >= end) return []
    const row = count(piece.sizes.slice(1))
    const [first, last] = [(start - piece.offsets[0]) * row, (end - piece.offsets[0]) * row]
    return [
      {
        offsets: [start - from, ...piece.offsets.slice(1)],
        sizes: [end - start, ...piece.sizes.slice(1)],
        read: ([begin, stop] = [0, last - first]) => piece.read([first + begin, first + stop]),
      },
    ]
  })
  return { name, dtype: tensor.dtype, shape: [rows, ...tensor.shape.slice(1)], pieces }
}

/** Several stretches of rows, one behind the other. */
export function stackedRows(parts: readonly PieceTensor[], name: string): PieceTensor {
  let at = 0
  const pieces = parts.flatMap((part) => {
    const moved = part.pieces.map((piece) => ({
      ...piece,
      offsets: [piece.offsets[0] + at, ...piece.offsets.slice(1)],
    }))
    at += part.shape[0]
    return moved
  })
  return { name, dtype: parts[0].dtype, shape: [at, ...parts[0].shape.slice(1)], pieces }
}

/** One entry of the first dimension, without it. */
export function entryOf(tensor: PieceTensor, name: string, i: number): PieceTensor {
  const { dtype, shape, pieces } = rowsOf(tensor, name, i, i + 1)
  return {
    name,
    dtype,
    shape: shape.slice(1),
    pieces: pieces.map(({ offsets, sizes, read }) => ({ offsets: offsets.slice(1), sizes: sizes.slice(1), read })),
  }
}
