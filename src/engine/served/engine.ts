import { TrinityError } from '../../base/error.js'
import { openModelDir } from '../../model/dir.js'
import { Tokenizer } from '../../model/tokenizer.js'
import { within } from '../calls.js'
import { checkHead } from '../check.js'
import type { Call, Caps, Engine, ModelInfo, SampleModel, SampleSpec } from '../contract.js'
import { Gate } from './gate.js'
import { ServerPool } from './pool.js'
import { receiverOf } from './receiver.js'
import { ServedSampleModel } from './sampler.js'
import type { ServerFacts } from './server-api.js'
import type { ServerSource } from './server-source.js'
import { ServedWeights } from './weights.js'

/** Requests that one server gets at once; it makes its own batches of them. */
const MAX_BATCH = 256
const MAX_QUEUE = 65_536

export interface ServedOptions {
  readonly name: string
  readonly title: string
  readonly caps: Caps
  /** The servers of a model. */
  sources(spec: SampleSpec): Promise<readonly ServerSource[]>
  readonly note?: (text: string) => void
}

/** Samples on servers of another project, over HTTP: those that run already, or those that it starts. */
export class ServedEngine implements Engine {
  readonly name: string
  /** Once a model is open, what its servers say of their log-probs. */
  caps: Caps
  readonly #options: ServedOptions
  readonly #pools = new Set<ServerPool>()

  constructor(options: ServedOptions) {
    this.#options = options
    this.name = options.name
    this.caps = options.caps
  }

  openTrain = (): Promise<never> => this.#refuse('trains')
  openScore = (): Promise<never> => this.#refuse('scores for a trainer')
  openReward = (): Promise<never> => this.#refuse('opens reward models')

  async openSample(spec: SampleSpec, call: Call): Promise<SampleModel> {
    checkHead(spec, ['lm'])
    checkNumbers(spec)
    const dir = await openModelDir(spec.path, { unchecked: true })
    await dir.close()
    const tokenizer = await Tokenizer.load(spec.path)
    const pool = new ServerPool(await this.#options.sources(spec))
    this.#pools.add(pool)
    return within(call, `opening ${spec.path}`, async (signal) => {
      try {
        await pool.open(signal)
        const facts = await Promise.all(pool.up.map(({ api }) => api.about({ signal })))
        this.#take(facts)
        const { config } = dir
        const info: ModelInfo = {
          architecture: config.architecture,
          parameters: 0,
          trainableParameters: 0,
          vocabSize: config.vocabSize,
          maxModelLen: Math.min(spec.maxModelLen ?? Infinity, ...facts.map(({ maxModelLen }) => maxModelLen)),
          endTokens: dir.eosTokenIds,
        }
        const gate = new Gate((spec.maxBatch ?? MAX_BATCH) * pool.members.length, spec.maxQueue ?? MAX_QUEUE)
        const weights = new ServedWeights(pool, gate, spec.path)
        pool.events = {
          note: (text) => this.#options.note?.(text),
          restore: async (api, signal, join) => {
            this.#take([await api.about({ signal })])
            await weights.restore(api, signal, join)
          },
        }
        return new ServedSampleModel({
          path: spec.path,
          info,
          caps: this.caps,
          scoresAnyTemperature: facts.every((one) => one.scoresAnyTemperature),
          pool,
          gate,
          weights,
          receiver: facts.every(({ extended }) => extended) ? receiverOf(pool, weights, spec.path) : undefined,
          seed: spec.seed ?? 0,
          tokenizer,
        })
      } catch (error) {
        await pool.close()
        throw error
      }
    })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools].map((pool) => pool.close()))
  }

  /** The least that all servers can do. */
  #take(facts: readonly ServerFacts[]): void {
    const worse = facts.find(({ logprobs }) => logprobs !== 'model')
    const extended = facts.every((one) => one.extended)
    this.caps = {
      ...this.caps,
      logprobs: worse?.logprobs ?? 'model',
      weights: extended ? this.caps.weights : this.caps.weights.filter((way) => way !== 'nccl'),
    }
  }

  async #refuse(what: string): Promise<never> {
    const { title } = this.#options
    throw new TrinityError('engine/unsupported', `${title} only samples: nothing ${what} on it`, {
      path: 'trainer.trainer_type',
      hint: 'leave trainer.trainer_type at auto: native or torch trains, and the weights go to the servers',
    })
  }
}

function checkNumbers(spec: SampleSpec): void {
  for (const [name, least] of [
    ['maxModelLen', 1],
    ['maxQueue', 0],
    ['maxBatch', 1],
  ] as const) {
    const value = spec[name]
    if (value === undefined || (Number.isInteger(value) && value >= least)) continue
    if (name === 'maxQueue' && value === Infinity) continue
    throw new TrinityError('engine/bad-spec', `${name} is ${value}`, {
      path: name,
      hint: `use a whole number, ${least} or more`,
    })
  }
}
