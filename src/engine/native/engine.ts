import { TrinityError } from '../../error.js'
import { within } from '../calls.js'
import type { Call, Caps, Head, ModelSpec, RewardModel, ScoreModel, ScoreSpec, TrainModel } from '../contract.js'
import { type NativeModel, openNative } from './model.js'
import { NativeRewardModel } from './reward.js'
import { NativeScoreModel } from './score.js'
import { NativeTrainModel } from './train.js'

export const nativeCaps: Caps = {
  train: true,
  sample: false,
  reward: true,
  heads: ['lm', 'value', 'reward'],
  lora: true,
  logprobs: 'model',
  drawnLogprobs: false,
  promptLogprobs: false,
  streaming: false,
  abort: true,
  batchInvariant: true,
  weights: [],
}

/** Trains and scores real transformers on the processor of this machine, in this process. */
export class NativeEngine {
  readonly name = 'native'
  readonly caps = nativeCaps
  protected readonly models = new Set<NativeModel>()

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

  async close(): Promise<void> {
    await Promise.all([...this.models].map((model) => model.close()))
  }

  #keep<T extends NativeModel>(model: T): T {
    this.models.add(model)
    return model
  }

  readonly #forget = (model: NativeModel) => void this.models.delete(model)
}

function refuseHead(spec: ModelSpec, allowed: readonly Head[]): void {
  if (allowed.includes(spec.head ?? 'lm')) return
  throw new TrinityError('engine/unsupported', `a model with the head '${spec.head}' cannot be opened this way`, {
    path: spec.path,
    hint: 'reward models are opened with openReward',
  })
}
