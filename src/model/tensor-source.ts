import type { Dtype } from './dtype.js'

/** What is known of a tensor before it is read. */
export interface StoredTensor {
  readonly name: string
  readonly dtype: Dtype
  readonly shape: readonly number[]
  /** Number of elements. */
  readonly size: number
  /** Of all elements as `dtype`. */
  readonly bytes: number
}

/** Elements [from, to). */
export type ElementRange = readonly [from: number, to: number]

/** A file, or several as one, that tensors are read from by their names. */
export interface TensorSource {
  /** What errors name. */
  readonly path: string
  readonly tensors: ReadonlyMap<string, StoredTensor>
  info(name: string): StoredTensor
  /** The elements as `dtype` of its info, little-endian, row after row; or only those from one to another. */
  readRaw(name: string, range?: ElementRange): Promise<Uint8Array>
  /** The elements as f32; into `target` where one is given. */
  readFloat32(name: string, target?: Float32Array): Promise<Float32Array>
  close(): Promise<void>
}
