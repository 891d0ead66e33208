import { TrinityError } from '../../base/error.js'
import type { ModelConfig } from '../config.js'
import { type Dtype, dtypeBytes } from '../dtype.js'
import { bytesOf } from '../safetensors.js'
import type { ElementRange, StoredTensor, TensorSource } from '../tensor-source.js'
import type { GgufFile } from './file.js'
import { hfName, ROPE_FACTORS } from './names.js'
import { reordered, rowsOf } from './rows.js'

/** The tensors of a GGUF file under the names, and with the rows, of a Hugging Face model. */
export class GgufWeights implements TensorSource {
  readonly path: string
  readonly tensors: ReadonlyMap<string, StoredTensor>
  readonly #file: GgufFile
  readonly #own = new Map<string, string>()
  readonly #config: ModelConfig

  constructor(file: GgufFile, config: ModelConfig) {
    this.path = file.path
    this.#file = file
    this.#config = config
    const tensors = new Map<string, StoredTensor>()
    for (const { name: own, type, shape, size } of file.tensors.values()) {
      if (own === ROPE_FACTORS) continue
      const name = hfName(own)
      if (name === undefined) {
        throw new TrinityError(
          'gguf/tensor',
          `${file.path} holds '${own}', which a ${config.family} model does not have`,
          {
            path: file.path,
            hint: 'the file is of a variant that is not supported',
          },
        )
      }
      const dtype: Dtype = type.name === 'F16' || type.name === 'BF16' ? type.name : 'F32'
      tensors.set(name, { name, dtype, shape, size, bytes: size * dtypeBytes[dtype] })
      this.#own.set(name, own)
    }
    this.tensors = tensors
  }

  info(name: string): StoredTensor {
    const info = this.tensors.get(name)
    if (info) return info
    throw new TrinityError('gguf/missing', `${this.path} holds no tensor '${name}'`, { path: this.path })
  }

  async readRaw(name: string, range?: ElementRange): Promise<Uint8Array> {
    const own = this.#own.get(this.info(name).name) as string
    const plain = this.info(name).dtype !== 'F32'
    const bytes = plain ? await this.#file.readRaw(own) : bytesOf(await this.#file.readFloat32(own))
    const order = rowsOf(this.#config, this.info(name), 'from-gguf')
    const placed = order ? reordered(bytes, order) : bytes
    const width = dtypeBytes[this.info(name).dtype]
    return range ? placed.subarray(range[0] * width, range[1] * width) : placed
  }

  async readFloat32(name: string, target?: Float32Array): Promise<Float32Array> {
    const own = this.#own.get(this.info(name).name) as string
    const values = await this.#file.readFloat32(own, target)
    const order = rowsOf(this.#config, this.info(name), 'from-gguf')
    if (order) bytesOf(values).set(reordered(bytesOf(values), order))
    return values
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}
