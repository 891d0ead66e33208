import { TrinityError } from '../../base/error.js'
import { nearest } from '../../base/nearest.js'
import { readEosTokenIds, readModelConfig } from '../../model/dir.js'
import { Tokenizer } from '../../model/tokenizer.js'
import { within } from '../calls.js'
import { foreignModel } from '../check.js'
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
import { tinkerCaps } from './description.js'
import { unsupported } from './failure.js'
import type { TinkerOptions } from './options.js'
import { RemoteModel } from './remote-model.js'
import { TinkerSampleModel } from './sampler.js'
import { SamplingSession } from './sampling-session.js'
import { readWeights } from './saved.js'
import { SavedPaths } from './saved-paths.js'
import { infoOf, type TinkerPlace, TinkerScoreModel } from './score.js'
import { TinkerSession } from './session.js'
import { TinkerTrainModel } from './train.js'
import { DOCUMENTED_TRAITS, type Traits, tryOut } from './traits.js'

/** Trains and samples an adapter of a hosted model, at a service that speaks the Tinker API. */
export class TinkerEngine implements Engine {
  readonly name = 'tinker'
  readonly caps = tinkerCaps
  readonly #options: TinkerOptions
  #opening: Promise<Opened> | undefined
  #traits: Promise<Traits> | undefined

  constructor(options: TinkerOptions) {
    this.#options = options
  }

  openTrain(spec: ModelSpec, call: Call): Promise<TrainModel> {
    return within(call, 'opening a model at the Tinker service', async (signal) => {
      checkSpec(spec)
      if (await readWeights(spec.path)) {
        throw unsupported('cannot begin with the weights of an earlier stage', spec.path, 'train in one stage')
      }
      const place = await this.#place(spec, signal)
      const traits = await this.#traitsOf(place, signal)
      const model = await RemoteModel.create(place.session, place.adapter, signal)
      const notes = [...model.deviations, ...notesOf(traits)]
      return new TinkerTrainModel({ ...place, notes, traits }, model)
    })
  }

  openScore(spec: ScoreSpec, call: Call): Promise<ScoreModel> {
    return within(call, 'opening a model at the Tinker service', async (signal) => {
      checkSpec(spec)
      return new TinkerScoreModel(await this.#place(spec, signal))
    })
  }

  async openSample(spec: SampleSpec, call: Call): Promise<SampleModel> {
    checkSpec(spec)
    const { trainer } = this.#options
    if (trainer !== undefined) throw noWay(trainer)
    const source = spec.shareWith
    if (source && !(source instanceof TinkerTrainModel)) throw foreignModel('shareWith')
    return within(call, 'opening a sampler at the Tinker service', async (signal) => {
      const place = await this.#place(spec, signal)
      const { session, adapter, config, paths } = place
      let tokenizer: Promise<Tokenizer> | undefined
      const sampling = await SamplingSession.open(session, { baseModel: adapter.baseModel }, signal)
      const sampler = new TinkerSampleModel(
        {
          session,
          paths,
          info: { ...infoOf(place), endTokens: await readEosTokenIds(spec.path, config) },
          path: spec.path,
          baseModel: adapter.baseModel,
          seed: (spec.seed ?? 0) | 0,
          maxQueue: spec.maxQueue ?? Number.POSITIVE_INFINITY,
          tokenizer: () => (tokenizer ??= Tokenizer.load(spec.path)),
          mixes: this.#traits !== undefined && (await this.#traits).mixesSamplers,
        },
        sampling,
      )
      // a trainer may have other weights than the model it began with
      await source?.handOver([sampler], -1, 'finish', { ...call, signal })
      return sampler
    })
  }

  async openReward(spec: ModelSpec): Promise<RewardModel> {
    throw unsupported('has no reward models', spec.path, 'open the reward model with another engine')
  }

  /** Ends the session; what was saved at the service stays there. */
  async close(): Promise<void> {
    await (await this.#opening?.catch(() => undefined))?.session.close()
  }

  async #place(spec: ModelSpec, signal: AbortSignal): Promise<TinkerPlace & Opened> {
    const opening = this.#opening ?? this.#open(signal)
    this.#opening = opening
    // a failure may pass
    opening.catch(() => {
      this.#opening = undefined
    })
    const { config } = await readModelConfig(spec.path)
    return { ...(await opening), adapter: this.#options.adapter, spec, config, notes: [] }
  }

  async #open(signal: AbortSignal): Promise<Opened> {
    const { adapter, baseUrl, note } = this.#options
    const session = await TinkerSession.open({ baseUrl, note }, signal)
    try {
      const known = await session.models(signal)
      if (known.length === 0 || known.includes(adapter.baseModel)) return { session, paths: new SavedPaths(session) }
      throw unknownModel(adapter.baseModel, known)
    } catch (error) {
      await session.close()
      throw error
    }
  }

  async #traitsOf({ session }: Opened, signal: AbortSignal): Promise<Traits> {
    const { adapter, baseUrl, alternates = true, trust = baseUrl === undefined } = this.#options
    this.#traits ??= trust ? Promise.resolve(DOCUMENTED_TRAITS) : tryOut(session, adapter, signal)
    this.#traits.catch(() => {
      this.#traits = undefined
    })
    const traits = await this.#traits
    if (traits.mixesSamplers && !alternates) {
      throw unsupported(
        'like this one cannot sample older weights than it trains: it would put them in the place of the trained ones',
        'synchronizer.sync_style',
        'use sync_style: fixed, sync_interval: 1 and sync_offset: 0',
      )
    }
    return traits
  }
}

interface Opened {
  readonly session: TinkerSession
  readonly paths: SavedPaths
}

function checkSpec({ head = 'lm', path }: ModelSpec): void {
  if (head === 'lm') return
  const hint = 'use an algorithm without a critic, such as grpo, or train with another engine'
  throw unsupported('trains language models, not critics', path, hint)
}

function notesOf({ clips }: Traits): string[] {
  return clips ? [] : ['trainer.grad_clip: this Tinker service does not clip gradients']
}

function noWay(trainer: string): TrinityError {
  return new TrinityError('sync/no-way', `weights cannot go from ${trainer} to a Tinker service`, {
    path: 'trainer.trainer_type',
    hint: 'set model.tinker.enable to true: trainer and sampler are then of the service',
  })
}

function unknownModel(name: string, known: readonly string[]): TrinityError {
  const near = nearest(name, known)
  return new TrinityError('tinker/unknown-model', `the Tinker service does not serve '${name}'`, {
    path: 'model.tinker.base_model',
    hint: `${near ? `did you mean '${near}'? ` : ''}it serves ${known.slice(0, 20).join(', ')}`,
  })
}
