import { TrinityError } from '../../base/error.js'
import type { AdamStep } from '../contract.js'
import { DOCUMENTED, type LossForm } from './backward.js'
import { type AdapterSpec, RemoteModel } from './remote-model.js'
import { SamplingSession } from './sampling-session.js'
import type { TinkerSession } from './session.js'
import type { Datum } from './wire/forward-backward.js'

/** How a service keeps to what the API promises. */
export interface Traits {
  readonly form: LossForm
  /** `grad_clip_norm` has an effect. */
  readonly clips: boolean
  /** Samples of older weights put these in the place of those that are trained. */
  readonly mixesSamplers: boolean
}

export const DOCUMENTED_TRAITS: Traits = { form: DOCUMENTED, clips: true, mixesSamplers: false }

/** Moments that forget at once, so that each step of the trial stands for itself. */
const FRESH: AdamStep = { lr: 0, betas: [0, 0], eps: 1, weightDecay: 0, gradClip: 0 }

/**
 * Tries out on a new adapter, which is thrown away, what differs between services of this API: a gradient that is scaled in
 * another way trains at another rate, and nobody would see it. What a service does not report is taken as documented.
 */
export async function tryOut(session: TinkerSession, spec: AdapterSpec, signal: AbortSignal): Promise<Traits> {
  const model = await RemoteModel.create(session, spec, signal)
  try {
    const trial = new Trial(model, signal)
    const [long] = await model.forward([datum(LONG)], signal)
    const [plain] = [long.slice(0, SHORT)]
    const path = await model.saveForSampler('trial', signal)
    const alone = await trial.norm('importance_sampling', [pull(SHORT, plain)])
    if (alone === undefined) return { ...DOCUMENTED_TRAITS, ...(await trial.samplers(session, path)) }
    const longer = await trial.norm('importance_sampling', [pull(LONG, long)])
    const twice = await trial.norm('importance_sampling', [pull(SHORT, plain), pull(SHORT, plain)])
    const weighted = await trial.norm('cross_entropy', [datum(SHORT, { weights: last(SHORT, -1) })])
    const form = {
      perToken: either('a longer sequence', longer! / alone, SHORT / LONG, 1),
      perDatum: either('a second sequence', twice! / alone, 1, 2),
      signedWeights: Math.abs(weighted! / alone - 1) < 0.01,
    }
    return { form, clips: await trial.clips(), ...(await trial.samplers(session, path)) }
  } finally {
    await model.unload()
  }
}

/** Tokens of the two sequences that are tried: the second goes on where the first ends. */
const [SHORT, LONG] = [3, 6]
const TOKENS = Int32Array.of(3, 5, 4, 6, 3, 7, 5)

function datum(length: number, inputs: Datum['inputs'] = { weights: last(length, 1) }): Datum {
  return { tokens: TOKENS.slice(0, length), targets: TOKENS.slice(1, length + 1), inputs }
}

function pull(length: number, logprobs: Float32Array): Datum {
  return datum(length, { logprobs, advantages: last(length, 1) })
}

/** Everything rests on the last token of the shorter sequence. */
function last(length: number, value: number): Float32Array {
  const values = new Float32Array(length)
  values[SHORT - 1] = value
  return values
}

class Trial {
  readonly #model: RemoteModel
  readonly #signal: AbortSignal

  constructor(model: RemoteModel, signal: AbortSignal) {
    this.#model = model
    this.#signal = signal
  }

  /** Norm of a gradient, of which a step of rate 0 makes no use; undefined where it is not reported. */
  async norm(lossFn: string, data: readonly Datum[]): Promise<number | undefined> {
    return gradNorm(await this.#step(FRESH, lossFn, data))
  }

  /** Whether a step that is clipped to nothing changes nothing. */
  async clips(): Promise<boolean> {
    const before = await this.#score()
    await this.#step({ ...FRESH, lr: 1, gradClip: 1e-9 }, 'importance_sampling', [pull(SHORT, before)])
    return !differ(before, await this.#score())
  }

  /** Whether sampling from weights that were saved before a step undoes the step. */
  async samplers(session: TinkerSession, path: string): Promise<Pick<Traits, 'mixesSamplers'>> {
    const before = await this.#score()
    await this.#step({ ...FRESH, lr: 1 }, 'importance_sampling', [pull(SHORT, before)])
    const stepped = await this.#score()
    const sampling = await SamplingSession.open(session, { path }, this.#signal)
    await sampling.sample({ prompt: TOKENS, n: 1, maxTokens: 1, temperature: 1 }, this.#signal)
    return { mixesSamplers: differ(stepped, await this.#score()) }
  }

  async #score(): Promise<Float32Array> {
    return (await this.#model.forward([datum(SHORT)], this.#signal))[0]
  }

  async #step(step: AdamStep, lossFn: string, data: readonly Datum[]): Promise<Readonly<Record<string, number>>> {
    const pass = await this.#model.submitPass(data, lossFn, false, this.#signal)
    const stepped = await this.#model.submitStep(step, this.#signal)
    await pass(this.#signal)
    return stepped(this.#signal)
  }
}

/** What a service calls the norm of the gradient before it is clipped; names of services stand before a slash or a colon. */
export function gradNorm(metrics: Readonly<Record<string, number>>): number | undefined {
  const name = Object.keys(metrics).find((key) => /(^|[/:])(unclipped_)?grad_norm(:|$)/.test(key))
  return name === undefined ? undefined : metrics[name]
}

function differ(a: Float32Array, b: Float32Array): boolean {
  return a.some((x, i) => Math.abs(x - b[i]) > 1e-5)
}

/** True for the first of two values that a ratio may have. */
function either(what: string, ratio: number, first: number, second: number): boolean {
  if (Math.abs(ratio / first - 1) < 0.01) return true
  if (Math.abs(ratio / second - 1) < 0.01) return false
  throw new TrinityError(
    'tinker/gradient',
    `the Tinker service scales gradients in an unknown way: ${what} makes the norm ${ratio.toPrecision(4)} times as large`,
    {
      hint: `${first.toPrecision(2)} (a mean) and ${second} (a sum) are known; tell the authors which service this is`,
    },
  )
}
