import { TrinityError } from '../../error.js'
import { within } from '../calls.js'
import type {
  Call,
  Caps,
  Engine,
  Head,
  ModelSpec,
  RewardModel,
  SampleModel,
  SampleSpec,
  ScoreModel,
  ScoreSpec,
  TrainModel,
  WeightLink,
} from '../contract.js'
import { type NativeModel, openNative } from './model.js'
import { NativeRewardModel } from './reward.js'
import { NativeWeightLink } from './sampler/link.js'
import { NativeSampleModel } from './sampler/model.js'
import { openSampler } from './sampler/open.js'
import { NativeScoreModel } from './score.js'
import { NativeTrainModel } from './train.js'

export const nativeCaps: Caps = {
  train: true,
  sample: true,
  reward: true,
  heads: ['lm', 'value', 'reward'],
  lora: true,
  logprobs: 'model',
  drawnLogprobs: true,
  promptLogprobs: true,
  streaming: true,
  abort: true,
  batchInvariant: true,
  weights: ['memory'],
}

/** Trains, scores and samples real transformers on the processor of this machine, in this process. */
export class NativeEngine implements Engine {
  readonly name = 'native'
  readonly caps = nativeCaps
  readonly #models = new Set<NativeModel | NativeSampleModel>()

  async openTrain(spec: ModelSpec, call: Call): Promise<TrainModel> {
    refuseHead(spec, ['lm', 'value'])
    return within(call, `opening ${spec.path}`, async (signal) => {
      return this.#keep(new NativeTrainModel(await openNative(spec, true, signal), spec, this.#forget))
    })
  }

  async openScore(spec: ScoreSpec, call: Call): Promise<ScoreModel> {
    refuseHead(spec, ['lm', 'value'])
    return within(call, `opening ${spec.path}`, async (signal) => {
      return this.#keep(new NativeScoreModel(await openNative(spec, false, signal), spec, this.#forget))
    })
  }

  async openReward(spec: ModelSpec, call: Call): Promise<RewardModel> {
    const reward: ModelSpec = { ...spec, head: 'reward', lora: undefined }
    return within(call, `opening ${spec.path}`, async (signal) => {
      return this.#keep(new NativeRewardModel(await openNative(reward, false, signal), reward, this.#forget))
    })
  }

  async openSample(spec: SampleSpec, call: Call): Promise<SampleModel> {
    refuseHead(spec, ['lm'])
    const source = spec.shareWith
    if (source && !(source instanceof NativeTrainModel)) throw foreign('shareWith')
    return within(call, `opening ${spec.path}`, async (signal) =>
      this.#keep(await openSampler(spec, source, signal, this.#forget)),
    )
  }

  link(from: TrainModel, to: readonly SampleModel[]): WeightLink {
    const isOwn = (model: SampleModel): model is NativeSampleModel => model instanceof NativeSampleModel
    if (!(from instanceof NativeTrainModel) || !to.every(isOwn)) throw foreign('link')
    return new NativeWeightLink(from, to)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#models].map((model) => model.close()))
  }

  #keep<T extends NativeModel | NativeSampleModel>(model: T): T {
    this.#models.add(model)
    return model
  }

  readonly #forget = (model: NativeModel | NativeSampleModel) => void this.#models.delete(model)
}

function foreign(where: string): TrinityError {
  return new TrinityError('engine/foreign-model', `${where} names a model of another engine`, {
    hint: 'open trainer and sampler with the same engine',
  })
}

function refuseHead(spec: ModelSpec, allowed: readonly Head[]): void {
  if (allowed.includes(spec.head ?? 'lm')) return
  throw new TrinityError('engine/unsupported', `a model with the head '${spec.head}' cannot be opened this way`, {
    path: spec.path,
    hint: 'reward models are opened with openReward',
  })
}
