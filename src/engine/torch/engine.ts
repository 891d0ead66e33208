import { availableParallelism, homedir } from 'node:os'
import { TrinityError } from '../../base/error.js'
import type { JsonObject } from '../../base/file/json-file.js'
import { thisMachine } from '../../machine/ground/this-machine.js'
import { execLocal } from '../../machine/python/exec.js'
import { findPython } from '../../machine/python/find.js'
import { cudaDevices } from '../../machine/python/gpus.js'
import { broadcast } from '../broadcast.js'
import { within } from '../calls.js'
import { checkHead, foreignModel } from '../check.js'
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
} from '../contract.js'
import { endTokens } from '../end-tokens.js'
import { torchCaps } from './description.js'
import { type GroupSettings, type Hello, WorkerGroup } from './group.js'
import type { TorchModelOptions, TorchOptions } from './options.js'
import { TorchRewardModel } from './reward.js'
import { samplerSpec, TorchSampleModel } from './sampler.js'
import { TorchScoreModel } from './score.js'
import { type Site, Sites } from './sites.js'
import { TorchTrainModel } from './train.js'
import type { OpenWorkerModel, TorchModel } from './worker-model.js'

/** What else there is to opening a model. */
interface Opening {
  readonly args?: JsonObject
  /** Workers other than the trainer's. */
  readonly apart?: Promise<WorkerGroup>
  readonly endTokens?: readonly number[]
}

/** Trains, scores and samples models of Transformers with PyTorch, in worker processes of its own: one for each device. */
export class TorchEngine implements Engine {
  readonly name = 'torch'
  readonly caps: Caps
  readonly #options: TorchOptions
  readonly #sites: Sites
  readonly #module: string | undefined
  readonly #closing = new AbortController()
  #group: Promise<WorkerGroup> | undefined
  /** Of samplers alone, by what they are and their number. */
  readonly #others = new Map<string, Promise<WorkerGroup>>()
  /** Samplers that were opened of each model. */
  readonly #opened = new Map<number | undefined, number>()

  /** `module`: what the workers run instead of trinity_torch. */
  constructor(options: TorchOptions = {}, module?: string) {
    this.#options = options
    this.#sites = new Sites(options)
    this.#module = module
    const apart = this.#sites.of().length > 0
    const weights: Caps['weights'] = apart ? ['nccl', 'checkpoint'] : torchCaps.weights
    this.caps = {
      ...torchCaps,
      weights,
      replicas: apart,
      // sums over several devices may be added up in another order for another size
      batchInvariant: options.exact === true && onCuda(options) && !this.#sites.of().some((site) => site.length > 1),
    }
  }

  samplers(auxiliary?: number): number {
    return Math.max(1, this.#sites.of(auxiliary).length)
  }

  /** Starts the workers: Python takes seconds to import torch. */
  begin(what: 'train' | 'sample'): void {
    const alone = what === 'sample' && this.#sites.of().length > 0
    const started = alone ? this.#startSamplers() : [this.#workers(this.#closing.signal)]
    for (const one of started) one.catch(() => {})
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
    const devices = spec.auxiliary === undefined ? [] : this.#sites.of(spec.auxiliary).flat()
    const more = { apart: devices.length > 0 ? this.#startOther(spec.auxiliary, 1, 0, devices) : undefined }
    return this.#opening(call, reward, 'reward', this.#options.reference, TorchRewardModel, more)
  }

  async openSample(spec: SampleSpec, call: Call): Promise<SampleModel> {
    checkHead(spec, ['lm'])
    const source = spec.shareWith
    if (source && !(source instanceof TorchTrainModel)) throw foreignModel('shareWith')
    const { policy, shareStorage, auxiliary = [] } = this.#options
    const given = spec.auxiliary === undefined ? this.#options : (auxiliary[spec.auxiliary] ?? {})
    const { memoryFraction, eager, exact, maxBatch } = given
    const options = { dtype: policy?.dtype, memoryFraction, eager, shareStorage, exact }
    const ends = await endTokens(spec.path)
    const apart = this.#apart(spec)
    const more = { endTokens: ends, apart, args: apart || !source ? undefined : { shareWith: source.handle } }
    const sized = samplerSpec({ ...spec, maxBatch: spec.maxBatch ?? maxBatch })
    const sampler = await this.#opening(call, sized, 'sample', options, TorchSampleModel, more)
    // a trainer may have other weights than the folder
    if (apart && source) await broadcast(source.sender, [sampler.receiver], -1, 'finish', call)
    return sampler
  }

  /** Starts the workers, or waits for them, and says what they are. */
  async start(call: Call): Promise<Hello> {
    return within(call, 'starting the torch workers', async (signal) => (await this.#workers(signal)).hello)
  }

  /** Ends the workers, and with them every model; calls under way fail. */
  async close(): Promise<void> {
    this.#closing.abort(new TrinityError('engine/closed', 'the torch engine is closed'))
    const groups = [this.#group, ...this.#others.values()]
    await Promise.all(groups.map(async (group) => (await group?.catch(() => undefined))?.close()))
  }

  #opening<T extends TorchModel>(
    call: Call,
    spec: ModelSpec,
    kind: string,
    options: TorchModelOptions | undefined,
    Model: new (opened: OpenWorkerModel, spec: ModelSpec) => T,
    { args: more, apart, endTokens }: Opening = {},
  ): Promise<T> {
    return within(call, `opening ${spec.path}`, async (signal) => {
      const group = await (apart ?? this.#workers(signal))
      // a processor without matrix units gains nothing from bfloat16
      const dtype = options?.dtype ?? (group.hello.device.type === 'cuda' ? 'bfloat16' : 'float32')
      const needs = this.#options.memory
      const own = spec.auxiliary === undefined ? needs?.sampler : needs?.auxiliary?.[spec.auxiliary]
      const need = apart ? own : needs?.trainer
      const args = { kind, spec: { ...spec }, options: { ...options, dtype, memory: need }, ...more }
      const { result } = await group.request({ op: 'open', args }, signal)
      const { model, info, memory } = result as JsonObject & { model: number; info: ModelInfo; memory: MemoryReport }
      const opened = new Model({ group, handle: model, info: { ...info, endTokens }, memory, dtype }, spec)
      if (opened instanceof TorchSampleModel) opened.tell({ result })
      if (signal.aborted) await opened.close()
      signal.throwIfAborted()
      return opened
    })
  }

  /** The workers, started by the first who needs them; who waits no longer leaves them to the others. */
  async #workers(signal: AbortSignal): Promise<WorkerGroup> {
    this.#closing.signal.throwIfAborted()
    const group = this.#group ?? this.#startWorkers(this.#closing.signal)
    this.#group = group
    // a start that failed may be tried again
    group.catch(() => {
      if (this.#group === group) this.#group = undefined
    })
    let stop = () => {}
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(signal.reason)
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
    })
    try {
      return await Promise.race([group, stopped])
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  /** The workers of the next sampler of a model, where it has some for itself. */
  #apart(spec: SampleSpec): Promise<WorkerGroup> | undefined {
    const sites = this.#sites.of(spec.auxiliary)
    if (sites.length === 0) return undefined
    const opened = this.#opened.get(spec.auxiliary) ?? 0
    this.#opened.set(spec.auxiliary, opened + 1)
    return this.#startSamplers(spec.auxiliary)[opened % sites.length]
  }

  /** All at once: a process takes long to start. */
  #startSamplers(auxiliary?: number): Promise<WorkerGroup>[] {
    const sites = this.#sites.of(auxiliary)
    return sites.map((site, index) => this.#startOther(auxiliary, sites.length, index, site))
  }

  #startOther(auxiliary: number | undefined, of: number, index: number, devices: Site): Promise<WorkerGroup> {
    const group = auxiliary === undefined ? 'rollout' : `auxiliary_${auxiliary}`
    const key = `${group} ${index}`
    const { log } = this.#options
    const before = this.#sites.before(index, auxiliary)
    const own = {
      world: devices.length,
      nodes: 1,
      placed: undefined,
      devices,
      place: { group, of, index },
      log: log && ((rank: number, line: string, node?: string) => log(before + rank, line, node)),
    }
    const started = this.#others.get(key) ?? this.#startWorkers(this.#closing.signal, own)
    this.#others.set(key, started)
    // a start that failed may be tried again
    started.catch(() => this.#others.delete(key))
    return started
  }

  async #startWorkers(signal: AbortSignal, own: Partial<GroupSettings> = {}): Promise<WorkerGroup> {
    const { devices = 1, nodes, log, graceMs, timeoutMs } = this.#options
    const { ground = thisMachine(this.#options.python ?? (await torchPython())) } = this.#options
    const { processes } = this.#sites
    const device = onCuda(this.#options) ? 'cuda' : 'cpu'
    if (!ground.spans && device === 'cuda' && this.#sites.devices > cudaDevices())
      throw tooFewDevices(this.#sites.devices)
    // processes that all use every core mostly wait for each other
    const threads = Math.max(1, Math.floor(availableParallelism() / processes))
    const env = { ...(device === 'cpu' && processes > devices && { OMP_NUM_THREADS: String(threads) }), ...own.env }
    const limits = { graceMs, timeoutMs, roster: this.#options.roster }
    // the trainer needs the largest places; samplers start beside it, since a process takes long to start
    const placed = () => void this.#startSamplers()
    const trainer = { world: devices, nodes: ground.spans ? nodes : 1, placed }
    const settings = { ground, ...trainer, device, log, ...limits, module: this.#module, ...own, env } as const
    return WorkerGroup.start(settings, signal)
  }
}

function onCuda({ device }: TorchOptions): boolean {
  return (device ?? (cudaDevices() > 0 ? 'cuda' : 'cpu')) === 'cuda'
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
  return new TrinityError('engine/devices', `${wanted} GPUs are requested, ${cudaDevices()} are visible here`, {
    path: 'cluster.gpu_per_node',
    hint: 'lower cluster.gpu_per_node, or check CUDA_VISIBLE_DEVICES',
  })
}
