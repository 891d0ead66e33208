import { TrinityError } from '../../base/error.js'
import type {
  Call,
  Engine,
  ModelInfo,
  ModelSpec,
  RewardModel,
  SampleModel,
  SampleRequest,
  SampleSpec,
  ScoreModel,
  TrainModel,
} from '../contract.js'
import { mockCaps } from './description.js'
import { MockSampleModel } from './sample.js'
import { MockTrainModel } from './train.js'

/** What the model answers: one token sequence per sample (reused in turn), or undefined to really sample. */
export type Reply = (request: SampleRequest) => Promise<Replies | undefined> | Replies | undefined
type Replies = readonly ArrayLike<number>[]

/** The shape of the mock model, and what it says. */
export interface MockOptions {
  vocabSize?: number
  maxModelLen?: number
  /** Token that ends a sequence. */
  eos?: number
  seed?: number
  /** Time a token takes. */
  latencyMs?: number
  /** Bound of requests at once; one more is refused with `engine/busy`. */
  maxQueue?: number
  reply?: Reply
  /** What a reward model says of a sequence. */
  reward?: (tokens: Int32Array) => number
}

/**
 * An engine for tests: no weights on disk, no native code, but true gradients, so a loop on it really learns.
 * @example
 * import { MockEngine } from 'trinity-rft/testing'
 *
 * const engine = new MockEngine({ vocabSize: 16, reply: () => [[3, 1, 4]] })
 * const model = await engine.openSample({ path: 'mock' }, { seq: 1, deadlineMs: 1000 })
 * const request = { prompt: Int32Array.of(1), n: 1, params: { temperature: 1, maxTokens: 8 } }
 * console.log((await model.sample(request, { seq: 2, deadlineMs: 1000 }))[0].tokens)
 */
export class MockEngine implements Engine {
  readonly name = 'mock'
  readonly caps = mockCaps
  readonly #options: MockOptions
  readonly #info: ModelInfo

  constructor(options: MockOptions = {}) {
    const vocabSize = options.vocabSize ?? 64
    const parameters = vocabSize * vocabSize + vocabSize
    this.#options = options
    this.#info = {
      architecture: 'bigram',
      parameters,
      trainableParameters: parameters,
      vocabSize,
      maxModelLen: options.maxModelLen ?? 4096,
    }
  }

  async openTrain(spec: ModelSpec, _call: Call): Promise<TrainModel> {
    if (spec.lora) {
      throw new TrinityError('engine/unsupported', 'the mock engine has no LoRA', {
        hint: 'train without lora_configs',
      })
    }
    return this.#model(spec)
  }

  async openScore(spec: ModelSpec, _call: Call): Promise<ScoreModel> {
    return this.#model(spec)
  }

  async #model({ path }: ModelSpec): Promise<MockTrainModel> {
    const model = new MockTrainModel(this.#info, path)
    await model.start(path)
    return model
  }

  async openSample(spec: SampleSpec, _call: Call): Promise<SampleModel> {
    const shared = spec.shareWith
    if (shared && !(shared instanceof MockTrainModel)) {
      throw new TrinityError('engine/foreign-model', 'shareWith names a model from another engine')
    }
    const weights = await this.#model(spec)
    // A sampler sees what was trained when it is given it, and not before.
    if (shared) weights.bigram.weights = shared.bigram.weights.slice()
    return new MockSampleModel(weights, {
      eos: this.#options.eos ?? 0,
      seed: spec.seed ?? this.#options.seed ?? 0,
      maxQueue: spec.maxQueue ?? this.#options.maxQueue ?? Infinity,
      latencyMs: this.#options.latencyMs ?? 0,
      reply: this.#options.reply,
    })
  }

  async openReward(_spec: ModelSpec, _call: Call): Promise<RewardModel> {
    const reward = this.#options.reward
    if (!reward) {
      throw new TrinityError('engine/unsupported', 'this mock engine has no reward model', {
        hint: 'pass { reward: tokens => number } when you create it',
      })
    }
    return {
      info: this.#info,
      memory: () => ({ weights: 0, gradients: 0, optimizer: 0, activations: 0, cache: 0 }),
      close: async () => {},
      reward: async (rows) => Float32Array.from(rows, reward),
    }
  }

  async close(): Promise<void> {}
}
