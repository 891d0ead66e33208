import {
  type AdvantageFn,
  advantageFns,
  applyKlPenalty,
  correctRollout,
  type KlArgs,
  KlController,
  type KlFn,
  klFns,
  type RolloutCorrection,
  rolloutCorrectionArgs,
} from '../algorithm/index.js'
import { parseArguments } from '../base/arguments.js'
import { Pcg64 } from '../base/random/index.js'
import type { Config } from '../config/index.js'
import type { Experience } from '../experience/index.js'
import { advantageInTrainer, hasKlPenalty } from './needs.js'
import { seedOf } from './update.js'

interface Result {
  readonly experiences: Experience[]
  readonly metrics: Record<string, number>
}

/** From rewards to advantages, where that is the trainer's business: KL penalty, advantage function, correction. */
export class AdvantageStage {
  readonly penalty?: { readonly fn: KlFn; readonly controller: KlController }
  readonly correction?: RolloutCorrection
  /** The configured function, wherever it runs. */
  readonly fn?: AdvantageFn
  /** It runs here on every batch, not at the explorer. */
  readonly isHere: boolean
  readonly #args: Record<string, unknown>
  readonly #seed: number

  constructor(config: Config, seed: number) {
    const { algorithm } = config
    this.#seed = seed
    this.isHere = advantageInTrainer(config)
    this.fn = algorithm.advantage_fn === null ? undefined : advantageFns.get(algorithm.advantage_fn)
    this.#args =
      algorithm.advantage_fn === null
        ? {}
        : advantageFns.parse(algorithm.advantage_fn, algorithm.advantage_fn_args, 'algorithm.advantage_fn_args')
    if (hasKlPenalty(config) && this.isHere) {
      const { kl_penalty_fn: name, kl_penalty_fn_args: args } = algorithm
      const controller = klController(name!, args, 'algorithm.kl_penalty_fn_args')
      this.penalty = { fn: klFns.get(name!), controller }
    }
    this.correction = correctionOf(algorithm.rollout_correction)
  }

  get wantsEntropy(): boolean {
    return this.isHere && (this.fn?.needs.includes('columns.entropy') ?? false)
  }

  /**
   * `isMissing`: no advantages came with the experiences, though the loss reads them. A selection always runs:
   * experiences from a file or of another algorithm have not been through it.
   */
  run(experiences: readonly Experience[], step: number, isMissing: boolean): Result {
    const metrics: Record<string, number> = {}
    let current = [...experiences]
    if (this.fn && (this.isHere || isMissing || this.fn.selects)) {
      // Expert rows have no rewards of their own; their advantages are zero and stay so.
      const own = current.filter(({ info }) => info.is_expert !== true)
      const experts = current.filter(({ info }) => info.is_expert === true)
      let rewarded = own
      if (this.penalty) {
        const penalized = applyKlPenalty(own, this.penalty.fn, this.penalty.controller)
        rewarded = penalized.experiences
        take(metrics, penalized.metrics)
      }
      const random = new Pcg64(seedOf(this.#seed, step))
      const result = this.fn.compute(rewarded, this.#args, { random: () => random.random() })
      take(metrics, result.metrics)
      current = [...result.experiences, ...experts]
    }
    return { experiences: current, metrics }
  }

  /** After the advantages: weights and rejects by the difference between sampler and trainer. */
  correct(experiences: readonly Experience[]): Result {
    if (!this.correction) return { experiences: [...experiences], metrics: {} }
    return correctRollout(experiences, this.correction)
  }
}

export function klController(name: string, args: Readonly<Record<string, unknown>> | null, path: string): KlController {
  return new KlController(klFns.parse(name, args, path) as unknown as KlArgs)
}

function correctionOf(given: Readonly<Record<string, unknown>> | null): RolloutCorrection | undefined {
  if (!given) return undefined
  const args = parseArguments('rollout correction', rolloutCorrectionArgs, given, 'algorithm.rollout_correction')
  const acts = args.rollout_is !== null || args.rollout_rs !== null || args.rollout_token_veto_threshold !== null
  return acts && !args.bypass_mode ? args : undefined
}

function take(into: Record<string, number>, metrics: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(metrics)) into[`advantage/${name}`] = value
}
