import { messageOf, TrinityError } from '../../base/error.js'
import type { JsonObject } from '../../base/file/json-file.js'
import type { ModelConfig } from '../../model/config.js'
import { initialValues } from '../../model/create.js'
import { type ModelDir, openModelDir } from '../../model/dir.js'
import type { TensorSpec } from '../../model/layout.js'
import type { SafetensorsFile } from '../../model/safetensors.js'
import type { MemoryReport, ModelInfo, ModelSpec, OpenModel } from '../contract.js'
import { openAdapter } from './adapter.js'
import { addonNote, loadAddon, type NativeAddon, type NativeHandle, type NativeParam } from './addon.js'
import { nativeConfig } from './config.js'
import { initialAdapter, isAdapter, type Lora, loraOf, peftName } from './lora.js'

/** A model in the addon's memory, and where it came from. */
export class NativeModel implements OpenModel {
  readonly addon: NativeAddon
  readonly handle: NativeHandle
  readonly info: ModelInfo
  readonly spec: ModelSpec
  readonly config: ModelConfig
  readonly configJson: JsonObject
  readonly params: readonly NativeParam[]
  readonly lora?: Lora
  readonly #closed: (model: NativeModel) => void
  #open = true

  constructor(opened: OpenNative, spec: ModelSpec, closed: (model: NativeModel) => void) {
    this.addon = opened.addon
    this.handle = opened.handle
    this.params = opened.params
    this.lora = opened.lora
    this.config = opened.config
    this.configJson = opened.configJson
    this.info = opened.info
    this.spec = spec
    this.#closed = closed
  }

  /** One call into the addon that stops when the signal fires: at the next layer, not at the end. */
  async run<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    this.check()
    const stop = () => {
      if (this.#open) this.addon.abort(this.handle)
    }
    signal.addEventListener('abort', stop, { once: true })
    try {
      return await start()
    } catch (error) {
      if (signal.aborted) throw signal.reason
      throw nativeError(error, this.spec.path)
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  check(): void {
    if (!this.#open) throw new TrinityError('engine/closed', 'the model is closed', { path: this.spec.path })
  }

  memory(): MemoryReport {
    const bytes = this.#open
      ? this.addon.memory(this.handle)
      : { weights: 0, gradients: 0, optimizer: 0, activations: 0 }
    return { ...bytes, cache: 0 }
  }

  async close(): Promise<void> {
    if (!this.#open) return
    this.#open = false
    this.addon.abort(this.handle)
    await this.addon.close(this.handle)
    this.#closed(this)
  }
}

export interface OpenNative {
  readonly addon: NativeAddon
  readonly handle: NativeHandle
  readonly config: ModelConfig
  readonly configJson: JsonObject
  readonly params: readonly NativeParam[]
  /** Absent: every parameter is trained. */
  readonly lora?: Lora
  readonly info: ModelInfo
}

/** Reads a model directory into the addon. */
export async function openNative(spec: ModelSpec, trainable: boolean, signal: AbortSignal): Promise<OpenNative> {
  const addon = loadAddon()
  const head = spec.head ?? 'lm'
  const dir = await openModelDir(spec.path, { head: head === 'reward' ? 'sequence' : head === 'value' ? 'none' : 'lm' })
  let handle: NativeHandle | undefined
  let adapter: SafetensorsFile | undefined
  try {
    const { lora, file, note } = await adapterOf(spec, dir)
    adapter = file
    const native = nativeConfig(dir.config, spec, trainable, lora)
    handle = await addon.open(native).catch((error) => {
      throw nativeError(error, spec.path)
    })
    const params = addon.params(handle)
    for (const param of params) {
      signal.throwIfAborted()
      await addon.write(handle, param.name, 'weight', await initial(param, dir, spec, adapter))
    }
    const notes = [addonNote(), note].filter((one) => one !== undefined)
    const count = (list: readonly NativeParam[]) => list.reduce((sum, { rows, cols }) => sum + rows * cols, 0)
    return {
      addon,
      handle,
      config: dir.config,
      configJson: dir.configJson,
      params,
      lora,
      info: {
        architecture: dir.config.architecture,
        parameters: count(params.filter(({ name }) => !isAdapter(name))),
        trainableParameters: count(params.filter(({ trained }) => trained)),
        vocabSize: dir.config.vocabSize,
        maxModelLen: native.maxLen,
        ...(notes.length === 0 ? {} : { notes }),
      },
    }
  } catch (error) {
    if (handle) await addon.close(handle)
    throw error
  } finally {
    await adapter?.close()
    await dir.close()
  }
}

/** The adapter that is asked for: one to start from, or a fresh one. */
async function adapterOf(
  { lora, head = 'lm' }: ModelSpec,
  dir: ModelDir,
): Promise<{ lora?: Lora; file?: SafetensorsFile; note?: string }> {
  if (lora?.path === undefined) return { lora: lora && loraOf(lora, dir.config, head) }
  return openAdapter(lora, dir, head)
}

/** First values of a parameter: the file's, a given adapter's, or fresh ones where the file has none by design. */
async function initial(
  param: NativeParam,
  dir: ModelDir,
  spec: ModelSpec,
  adapter: SafetensorsFile | undefined,
): Promise<Float32Array> {
  const seed = spec.seed ?? 0
  if (isAdapter(param.name)) {
    if (!adapter) return initialAdapter(param, seed)
    checkShape(param, adapter.info(peftName(param.name)).shape, adapter.path)
    return adapter.readFloat32(peftName(param.name))
  }
  if (!param.name.startsWith('score.')) return dir.readTensor(param.name)
  if (adapter?.tensors.has(peftName(param.name))) return adapter.readFloat32(peftName(param.name))
  if (dir.hasTensor(param.name)) {
    checkShape(param, dir.tensorInfo(param.name).shape, dir.path)
    return dir.readTensor(param.name)
  }
  const fresh: TensorSpec = {
    name: param.name,
    shape: shapeOf(param),
    kind: param.name === 'score.bias' ? 'bias' : 'head',
  }
  return initialValues(fresh, dir.config, seed)
}

/** As it stands in a file. */
export function shapeOf({ name, rows, cols, vector }: NativeParam): number[] {
  if (name === 'score.weight') return [1, cols]
  return vector ? [cols] : [rows, cols]
}

export function checkShape(param: NativeParam, found: readonly number[], path: string): void {
  const wanted = shapeOf(param)
  if (found.length === wanted.length && found.every((n, i) => n === wanted[i])) return
  throw new TrinityError(
    'model/shape',
    `'${param.name}' is [${found.join(', ')}], the model needs [${wanted.join(', ')}]`,
    {
      path,
      hint: 'the file belongs to another model, rank or head',
    },
  )
}

export function nativeError(error: unknown, path: string): unknown {
  const code = (error as { code?: string }).code
  if (code === 'native/memory') {
    return new TrinityError('engine/memory', 'there is not enough memory for this', {
      path,
      hint: 'use a smaller token budget, gradient checkpointing, or a smaller model',
      cause: error,
    })
  }
  if (typeof code !== 'string' || !code.startsWith('native/')) return error
  return new TrinityError('engine/native', `the native engine failed: ${messageOf(error)}`, { path, cause: error })
}
