import { TrinityError } from '../../base/error.js'
import type { ModelConfig } from '../config.js'
import { type Dtype, dtypeBytes } from '../dtype.js'
import { bytesOf } from '../safetensors.js'
import type { ElementRange, StoredTensor, TensorSource } from '../tensor-source.js'
import { GgufFile, type Part } from './file.js'
import type { GgufTensor } from './header.js'
import { ggufTensors, LONG_FACTORS, ROPE_FACTORS, SHORT_FACTORS } from './names.js'
import { reordered, rowsOf } from './rows.js'
import { EMBEDDING, type TiedHead, tiedHead } from './tied-head.js'
import { isUnitNorm, shifted } from './unit-norms.js'

/** Where a tensor lies: in which one of the file, and which part of it. */
interface Place {
  readonly own: string
  readonly part: Part
}

/** The tensors of a GGUF file under the names, and with the rows, of a Hugging Face model. */
export class GgufWeights implements TensorSource {
  readonly path: string
  readonly tensors: ReadonlyMap<string, StoredTensor>
  readonly #file: GgufFile
  readonly #places = new Map<string, Place>()
  readonly #config: ModelConfig
  /** Tensor that is being read in ranges, if these cannot be read one by one. */
  #whole: { readonly name: string; readonly bytes: Uint8Array } | undefined

  static async open(path: string, config: ModelConfig): Promise<GgufWeights> {
    const file = await GgufFile.open(path)
    try {
      return new GgufWeights(file, config, config.tieEmbeddings ? await tiedHead(file) : undefined)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  private constructor(file: GgufFile, config: ModelConfig, tied: TiedHead | undefined) {
    this.path = file.path
    this.#file = file
    this.#config = config
    const tensors = new Map<string, StoredTensor>()
    const known = ggufTensors(config)
    for (const tensor of file.tensors.values()) {
      if ([ROPE_FACTORS, LONG_FACTORS, SHORT_FACTORS].includes(tensor.name)) continue
      if (tensor.name === tied?.dropped.name) continue
      const names = known.get(tensor.name === tied?.kept.name ? EMBEDDING : tensor.name)
      if (names === undefined) throw this.#wrong(`holds '${tensor.name}', which a ${config.family} model does not have`)
      const shape = this.#partShape(tensor, names.length)
      const size = tensor.size / names.length
      for (const [index, name] of names.entries()) {
        const dtype = this.#dtypeOf(tensor, name)
        tensors.set(name, { name, dtype, shape, size, bytes: size * dtypeBytes[dtype] })
        this.#places.set(name, { own: tensor.name, part: [index, names.length] })
      }
    }
    this.tensors = tensors
  }

  info(name: string): StoredTensor {
    const info = this.tensors.get(name)
    if (info) return info
    throw new TrinityError('gguf/missing', `${this.path} holds no tensor '${name}'`, { path: this.path })
  }

  async readRaw(name: string, range?: ElementRange): Promise<Uint8Array> {
    const info = this.info(name)
    const { own, part } = this.#places.get(name) as Place
    const plain = info.dtype !== 'F32'
    const order = rowsOf(this.#config, info, 'from-gguf')
    const { block } = this.#file.tensor(own).type
    if (range && !order && !isUnitNorm(this.#config, name) && range.every((at) => at % block === 0)) {
      const [from, count] = [part[0] * info.size + range[0], range[1] - range[0]]
      if (plain) return this.#file.readRawElements(own, from, count)
      return bytesOf(await this.#file.readElements(own, from, count))
    }
    if (this.#whole?.name !== name) this.#whole = { name, bytes: await this.#readWhole(name, plain, order) }
    const { bytes } = this.#whole
    const [from, to] = range ?? [0, info.size]
    // readers of portions go from the start to the end
    if (to === info.size) this.#whole = undefined
    const width = dtypeBytes[info.dtype]
    return bytes.subarray(from * width, to * width)
  }

  async #readWhole(name: string, plain: boolean, order: Int32Array | undefined): Promise<Uint8Array> {
    if (!plain) return bytesOf(await this.readFloat32(name))
    const { own, part } = this.#places.get(name) as Place
    const bytes = await this.#file.readRaw(own, part)
    return order ? reordered(bytes, order) : bytes
  }

  async readFloat32(name: string, target?: Float32Array): Promise<Float32Array> {
    const info = this.info(name)
    const { own, part } = this.#places.get(name) as Place
    const values = await this.#file.readFloat32(own, target, part)
    const order = rowsOf(this.#config, info, 'from-gguf')
    if (order) bytesOf(values).set(reordered(bytesOf(values), order))
    shifted(this.#config, name, bytesOf(values), -1)
    return values
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  #dtypeOf({ type }: GgufTensor, name: string): Dtype {
    const isKept = (type.name === 'F16' || type.name === 'BF16') && !isUnitNorm(this.#config, name)
    return isKept ? (type.name as Dtype) : 'F32'
  }

  #partShape({ name, shape }: GgufTensor, parts: number): readonly number[] {
    if (parts === 1) return shape
    if (shape.length === 3 && shape[0] === parts) return shape.slice(1)
    throw this.#wrong(`has '${name}' of shape [${shape.join(', ')}] for ${parts} experts`)
  }

  #wrong(what: string): TrinityError {
    return new TrinityError('gguf/tensor', `${this.path} ${what}`, {
      path: this.path,
      hint: 'the file is of a variant that is not supported',
    })
  }
}
