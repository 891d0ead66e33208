import { TrinityError } from '../../base/error.js'
import type { JsonObject } from '../../base/file/json-file.js'
import type { MemoryReport, ModelInfo, ModelSpec, OpenModel } from '../contract.js'
import type { Tensors, WorkerAnswer } from './connection.js'
import type { WorkerGroup } from './group.js'

/** A call under way is waited for. */
const CLOSE_MS = 120_000

const NOTHING: MemoryReport = { weights: 0, gradients: 0, optimizer: 0, activations: 0, cache: 0 }

export interface OpenWorkerModel {
  readonly group: WorkerGroup
  /** Number of the model among those of the workers. */
  readonly handle: number
  readonly info: ModelInfo
  readonly memory: MemoryReport
  /** What it computes in, and sends its weights as. */
  readonly dtype: string
}

/** A model in the memory of the workers. */
export class TorchModel implements OpenModel {
  readonly spec: ModelSpec
  readonly info: ModelInfo
  readonly group: WorkerGroup
  readonly handle: number
  readonly dtype: string
  /** Models of the same workers share their memory. */
  readonly home: object
  #memory: MemoryReport
  #open = true

  constructor({ group, handle, info, memory, dtype }: OpenWorkerModel, spec: ModelSpec) {
    this.group = group
    this.home = group
    this.handle = handle
    this.dtype = dtype
    this.info = info
    this.spec = spec
    this.#memory = memory
  }

  async ask(op: string, args: JsonObject, signal: AbortSignal, tensors?: Tensors): Promise<WorkerAnswer> {
    this.check()
    const answer = await this.group.request({ op, args: { model: this.handle, ...args }, tensors }, signal)
    if (answer.result.memory !== undefined) this.#memory = answer.result.memory as unknown as MemoryReport
    return answer
  }

  check(): void {
    if (!this.#open) throw new TrinityError('engine/closed', 'the model is closed', { path: this.spec.path })
  }

  /** As of the last call that changed it. */
  memory(): MemoryReport {
    return this.#open ? this.#memory : NOTHING
  }

  async close(): Promise<void> {
    if (!this.#open) return
    this.#open = false
    const request = { op: 'close', args: { model: this.handle } }
    // workers that are gone hold no memory, and those that never come to it are ended
    await this.group.request(request, AbortSignal.timeout(CLOSE_MS)).catch(() => {})
  }
}
