import { within } from '../calls.js'
import { checkHead, foreignModel } from '../check.js'
import type {
  Call,
  Engine,
  ModelSpec,
  RewardModel,
  SampleModel,
  SampleSpec,
  ScoreModel,
  ScoreSpec,
  TrainModel,
} from '../contract.js'
import { nativeCaps } from './description.js'
import { type NativeModel, openNative } from './native-model.js'
import type { NativeOptions, SamplingDtype } from './options.js'
import { NativeRewardModel } from './reward.js'
import type { NativeSampleModel } from './sampler/native-sampler.js'
import { openSampler } from './sampler/open.js'
import { NativeScoreModel } from './score.js'
import { NativeTrainModel } from './train.js'

/**
 * Trains, scores and samples real transformers on the processor of this machine, in this process.
 * @example
 * import { NativeEngine } from 'trinity-rft/engine'
 *
 * const engine = new NativeEngine()
 * const model = await engine.openSample({ path: 'model' }, { seq: 1, deadlineMs: 60_000 })
 * const request = { prompt: Int32Array.of(1, 2, 3), n: 1, params: { temperature: 1, maxTokens: 8, seed: 7 } }
 * const [sample] = await model.sample(request, { seq: 2, deadlineMs: 60_000 })
 * console.log(sample.tokens)
 * await engine.close()
 */
export class NativeEngine implements Engine {
  readonly name: string = 'native'
  readonly caps = nativeCaps
  readonly #options: NativeOptions
  readonly #models = new Set<NativeModel | NativeSampleModel>()

  constructor(options: NativeOptions = {}) {
    this.#options = options
  }

  async openTrain(spec: ModelSpec, call: Call): Promise<TrainModel> {
    checkHead(spec, ['lm', 'value'])
    return within(call, `opening ${spec.path}`, async (signal) => {
      return this.#keep(new NativeTrainModel(await openNative(spec, true, signal), spec, this.#forget))
    })
  }

  async openScore(spec: ScoreSpec, call: Call): Promise<ScoreModel> {
    checkHead(spec, ['lm', 'value'])
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
    checkHead(spec, ['lm'])
    const source = spec.shareWith
    if (source && !(source instanceof NativeTrainModel)) throw foreignModel('shareWith')
    return within(call, `opening ${spec.path}`, async (signal) =>
      this.#keep(await openSampler(spec, source, this.#dtypeOf(spec), signal, this.#forget)),
    )
  }

  async close(): Promise<void> {
    await Promise.all([...this.#models].map((model) => model.close()))
  }

  #dtypeOf({ auxiliary }: SampleSpec): SamplingDtype {
    const { dtype, auxiliary: others = [] } = this.#options
    return (auxiliary === undefined ? dtype : others[auxiliary]) ?? 'float32'
  }

  #keep<T extends NativeModel | NativeSampleModel>(model: T): T {
    this.#models.add(model)
    return model
  }

  readonly #forget = (model: NativeModel | NativeSampleModel) => void this.#models.delete(model)
}
