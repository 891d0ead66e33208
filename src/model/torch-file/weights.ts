import { TrinityError } from '../../base/error.js'
import { dtypeBytes, toFloat32 } from '../dtype.js'
import { bytesOf } from '../safetensors.js'
import type { ElementRange, StoredTensor, TensorSource } from '../tensor-source.js'
import { TorchFile } from './file.js'
import { asTensor, type TorchTensor } from './tensor.js'

/** The tensors of a `pytorch_model.bin`. */
export class TorchWeights implements TensorSource {
  readonly path: string
  readonly tensors: ReadonlyMap<string, StoredTensor>
  readonly #file: TorchFile
  readonly #places: ReadonlyMap<string, TorchTensor>

  private constructor(file: TorchFile, places: ReadonlyMap<string, TorchTensor>) {
    this.path = file.path
    this.#file = file
    this.#places = places
    this.tensors = new Map([...places].map(([name, place]) => [name, infoOf(name, place)]))
  }

  static async open(path: string): Promise<TorchWeights> {
    const file = await TorchFile.open(path)
    const places = new Map<string, TorchTensor>()
    try {
      if (!(file.root instanceof Map))
        throw new TrinityError('torch-file/weights', `${path} holds no dictionary of tensors`, { path })
      for (const [name, value] of file.root) {
        const tensor = asTensor(value, path)
        if (typeof name === 'string' && tensor) places.set(name, tensor)
      }
      if (places.size > 0) return new TorchWeights(file, places)
      throw new TrinityError('torch-file/weights', `${path} holds no tensors`, { path })
    } catch (error) {
      await file.close()
      throw error
    }
  }

  info(name: string): StoredTensor {
    const info = this.tensors.get(name)
    if (info) return info
    throw new TrinityError('torch-file/missing', `${this.path} holds no tensor '${name}'`, { path: this.path })
  }

  readRaw(name: string, range?: ElementRange): Promise<Uint8Array> {
    return this.#file.read(this.#places.get(this.info(name).name)!, range)
  }

  async readFloat32(name: string, target?: Float32Array): Promise<Float32Array> {
    const { dtype, size } = this.info(name)
    const raw = await this.readRaw(name)
    const out = target ?? new Float32Array(size)
    if (out.length !== size)
      throw new TrinityError('torch-file/size', `tensor '${name}' has ${size} elements, not ${out.length}`, {
        path: this.path,
      })
    if (dtype === 'F32') bytesOf(out).set(raw)
    else toFloat32(dtype, raw, out)
    return out
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}

function infoOf(name: string, { dtype, shape }: TorchTensor): StoredTensor {
  const size = shape.reduce((product, n) => product * n, 1)
  return { name, dtype, shape, size, bytes: size * dtypeBytes[dtype] }
}
