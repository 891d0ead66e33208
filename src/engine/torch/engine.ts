import { homedir } from 'node:os'
import { TrinityError } from '../../error.js'
import type { JsonObject } from '../../file/json-file.js'
import { execLocal } from '../../python/exec.js'
import { findPython } from '../../python/find.js'
import { cudaDevices } from '../../python/gpus.js'
import { within } from '../calls.js'
import { checkHead } from '../check.js'
import type {
  Call,
  Caps,
  Engine,
  MemoryReport,
  ModelInfo,
  ModelSpec,
  RewardModel,
  SampleModel,
  SampleSpec,
  ScoreModel,
  ScoreSpec,
  TrainModel,
  WeightLink,
} from '../contract.js'
import { type GroupSettings, type Hello, WorkerGroup } from './group.js'
import type { Opened, TorchModel } from './model.js'
import type { TorchModelOptions, TorchOptions } from './options.js'
import { TorchRewardModel } from './reward.js'
import { TorchScoreModel } from './score.js'
import { TorchTrainModel } from './train.js'

export const torchCaps: Caps = {
  train: true,
  sample: false,
  reward: true,
  heads: ['lm', 'value', 'reward'],
  lora: true,
  logprobs: 'model',
  drawnLogprobs: false,
  promptLogprobs: false,
  streaming: false,
  abort: false,
  batchInvariant: false,
  weights: [],
}

/** Trains and scores any model of Transformers with PyTorch, in worker processes of its own: one for each device. */
export class TorchEngine implements Engine {
  readonly name = 'torch'
  readonly caps = torchCaps
  readonly #options: TorchOptions
  readonly #module: string | undefined
  readonly #models = new Set<TorchModel>()
  #group: Promise<WorkerGroup> | undefined
  #closed = false

  /** `module`: what the workers run instead of trinity_torch. */
  constructor(options: TorchOptions = {}, module?: string) {
    this.#options = options
    this.#module = module
  }

  openTrain(spec: ModelSpec, call: Call): Promise<TrainModel> {
    checkHead(spec, ['lm', 'value'])
    const { policy, critic } = this.#options
    return this.#opening(call, spec, 'train', spec.head === 'value' ? critic : policy, TorchTrainModel)
  }

  openScore(spec: ScoreSpec, call: Call): Promise<ScoreModel> {
    checkHead(spec, ['lm', 'value'])
    return this.#opening(call, spec, 'score', this.#options.reference, TorchScoreModel)
  }

  openReward(spec: ModelSpec, call: Call): Promise<RewardModel> {
    const reward: ModelSpec = { ...spec, head: 'reward', lora: undefined }
    return this.#opening(call, reward, 'reward', this.#options.reference, TorchRewardModel)
  }

  openSample(spec: SampleSpec): Promise<SampleModel> {
    throw noSampling(spec.path)
  }

  link(): WeightLink {
    throw noSampling()
  }

  /** Starts the workers, or waits for them, and says what they are. */
  async start(call: Call): Promise<Hello> {
    return within(call, 'starting the torch workers', async (signal) => (await this.#workers(signal)).hello)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#models].map((model) => model.close()))
    await (await this.#group?.catch(() => undefined))?.close()
  }

  #opening<T extends TorchModel>(
    call: Call,
    spec: ModelSpec,
    kind: string,
    options: TorchModelOptions | undefined,
    Model: new (opened: Opened, spec: ModelSpec, closed: (model: TorchModel) => void) => T,
  ): Promise<T> {
    return within(call, `opening ${spec.path}`, async (signal) => {
      const group = await this.#workers(signal)
      const args = { kind, spec: { ...spec }, options: { ...this.#defaults(group), ...options } }
      const { result } = await group.request({ op: 'open', args }, signal)
      const { model, info, memory } = result as JsonObject & { model: number; info: ModelInfo; memory: MemoryReport }
      const opened = new Model({ group, handle: model, info, memory }, spec, (one) => void this.#models.delete(one))
      if (this.#closed || signal.aborted) await opened.close()
      signal.throwIfAborted()
      this.#models.add(opened)
      return opened
    })
  }

  /** A processor without matrix units gains nothing from bfloat16. */
  #defaults(group: WorkerGroup): TorchModelOptions {
    return { dtype: group.hello.device.type === 'cuda' ? 'bfloat16' : 'float32' }
  }

  #workers(signal: AbortSignal): Promise<WorkerGroup> {
    if (this.#closed) throw new TrinityError('engine/closed', 'the torch engine is closed')
    const group = this.#group ?? this.#startWorkers(signal)
    this.#group = group
    // a start that failed may be tried again
    group.catch(() => {
      if (this.#group === group) this.#group = undefined
    })
    return group
  }

  async #startWorkers(signal: AbortSignal): Promise<WorkerGroup> {
    const { device = cudaDevices() > 0 ? 'cuda' : 'cpu', devices = 1, log, graceMs } = this.#options
    if (device === 'cuda' && devices > cudaDevices()) throw tooFewDevices(devices)
    const python = this.#options.python ?? (await torchPython())
    const settings: GroupSettings = { python, world: devices, device, log, graceMs, module: this.#module }
    return WorkerGroup.start(settings, signal)
  }
}

/** The Python of the workers. */
export async function torchPython(): Promise<string> {
  const { source, info } = await findPython({ env: process.env, home: homedir(), exec: execLocal })
  if (info?.packages.torch !== undefined && source) return source.command
  const found = !source
    ? 'there is no Python'
    : `the Python from ${source.from} ${info ? 'has no torch' : 'cannot be run'}`
  throw new TrinityError('engine/python', `the torch engine cannot start: ${found}`, {
    path: source?.command,
    hint: 'run: trinity setup torch (or set TRINITY_PYTHON to a Python with torch and transformers)',
  })
}

function tooFewDevices(wanted: number): TrinityError {
  return new TrinityError('engine/devices', `${wanted} GPUs are asked for, ${cudaDevices()} are visible here`, {
    path: 'cluster.gpu_per_node',
    hint: 'lower cluster.gpu_per_node, or see CUDA_VISIBLE_DEVICES',
  })
}

function noSampling(path?: string): TrinityError {
  return new TrinityError(
    'engine/unsupported',
    'the torch engine of this version trains and scores, and does not sample',
    {
      path,
      hint: 'set explorer.rollout_model.engine_type to native, or use mode: train',
    },
  )
}
