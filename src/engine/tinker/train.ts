import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { lossProgram } from '../../graph/program.js'
import { within } from '../calls.js'
import { checkStep, foreignModel, incompleteGradient } from '../check.js'
import type {
  AdamStep,
  Batch,
  Call,
  ForwardBackward,
  InFlight,
  Loss,
  Row,
  SampleModel,
  TrainModel,
  Want,
} from '../contract.js'
import { backwardPass, isFinitePull, isSummed, type Pull } from './backward.js'
import { viewsOf } from './data.js'
import { checkGradients } from './estimate.js'
import { blindGrads, evaluated, givenKinds, pullsOf } from './evaluate.js'
import { exportAdapter, exportWeights } from './export.js'
import { RemoteModel } from './remote-model.js'
import { TinkerSampleModel } from './sampler.js'
import { readState, writeState } from './saved.js'
import type { SavedPaths } from './saved-paths.js'
import { type Scored, type TinkerPlace, TinkerScoreModel } from './score.js'
import { gradNorm, type Traits } from './traits.js'

export interface TrainedPlace extends TinkerPlace {
  readonly traits: Traits
  readonly paths: SavedPaths
}

/**
 * An adapter that learns at the service. The service gives log-probs, the loss and its derivative are worked out here, and
 * the service applies the derivative: so any loss of log-probs works. What a step is made of is kept here until the step,
 * so that a gradient that is discarded, or is no number, never leaves.
 */
export class TinkerTrainModel extends TinkerScoreModel implements TrainModel {
  readonly home: object
  readonly #at: TrainedPlace
  #model: RemoteModel
  /** Models that samplers may still use. */
  readonly #retired: RemoteModel[] = []
  /** What the next step is made of, still here. */
  #pulls: Pull[] = []
  /** Gradient that lies at the service already. `partial`: a call stopped halfway. */
  #there: 'none' | 'whole' | 'partial' = 'none'
  /** A step whose end is not known has left weights that nobody may train or save. */
  #torn = false
  /** Where the weights, as they are now, lie for samplers. */
  #sampled: string | undefined
  #steps = 0

  constructor(place: TrainedPlace, model: RemoteModel) {
    super(place)
    this.home = place.session
    this.#at = place
    this.#model = model
  }

  protected override scorer(want: Want, signal: AbortSignal): Promise<RemoteModel> {
    return want.adapter === 'off' ? this.base(signal) : Promise.resolve(this.#model)
  }

  forwardBackward({ rows }: Batch, loss: Loss, call: Call): Promise<ForwardBackward> {
    return this.order.run(call, 'forwardBackward', async (signal) => {
      this.#checkWhole()
      this.checkRows(rows, loss.wants)
      const { outs } = lossProgram(loss.graph)
      checkGradients(outs)
      const norms = loss.norms(rows)
      const known = isSummed(this.#at.traits.form) ? knownPulls(rows, loss, norms, this.info.vocabSize) : undefined
      const scored = known
        ? await this.#learnAtOnce(known, signal)
        : await this.scoreWith(this.#model, rows, givenKinds(loss), signal)
      const { result, scores, pulls } = evaluated(rows, loss, norms, scored)
      if (!known) this.#pulls.push(...pulls)
      return { loss: result.loss, metrics: result.metrics, scores }
    })
  }

  /** One pass where the derivative is known before it. */
  async #learnAtOnce(pulls: readonly Pull[], signal: AbortSignal): Promise<Scored[]> {
    const isFirst = this.#there === 'none' && this.#pulls.length === 0
    this.#there = 'partial'
    try {
      const { lossFn, data } = backwardPass(pulls, this.#at.traits.form, true)
      const logprobs = await (await this.#model.submitPass(data, lossFn, false, signal))(signal)
      this.#there = 'whole'
      return pulls.map(({ view }, i) => ({ view, logprobs: logprobs[i] }))
    } catch (error) {
      // Alone it is simply dropped, so that the call can be repeated.
      if (isFirst) await this.#renew(AbortSignal.timeout(RENEW_MS)).catch(() => {})
      throw error
    }
  }

  optimStep(step: AdamStep, call: Call): Promise<{ gradNorm: number; applied: boolean }> {
    return this.order.run(call, 'optimStep', async (signal) => {
      this.#checkWhole()
      checkStep(step)
      if (!this.#pulls.every(isFinitePull)) {
        await this.#discard(signal)
        return { gradNorm: Number.NaN, applied: false }
      }
      const metrics = await this.#step(step, signal)
      const norm = gradNorm(metrics) ?? Number.NaN
      if (norm === Infinity || Object.values(metrics).some(Number.isNaN)) {
        this.#torn = true
        this.#checkWhole()
      }
      return { gradNorm: norm, applied: true }
    })
  }

  /** Gradient and step are handed over together: a service may carry both out in one turn. */
  async #step(step: AdamStep, signal: AbortSignal): Promise<Readonly<Record<string, number>>> {
    const { lossFn, data } = backwardPass(this.#pulls, this.#at.traits.form)
    this.#pulls = []
    if (data.length > 0) this.#there = 'partial'
    const pass = await this.#model.submitPass(data, lossFn, false, signal)
    this.#torn = true
    const stepped = await this.#model.submitStep(step, signal)
    await pass(signal)
    const metrics = await stepped(signal)
    this.#torn = false
    this.#there = 'none'
    this.#steps++
    await this.#forgetSampled()
    return metrics
  }

  discardGrad(call: Call): Promise<void> {
    return this.order.run(call, 'discardGrad', (signal) => this.#discard(signal))
  }

  async #discard(signal: AbortSignal): Promise<void> {
    this.#pulls = []
    if (this.#there !== 'none') await this.#renew(signal)
  }

  /** The API has no word for dropping a gradient; a new model with the same state has none. */
  async #renew(signal: AbortSignal): Promise<void> {
    const path = await this.#model.saveState(nameOf('renewed'), signal)
    await this.#replace(path, signal)
    await this.#at.paths.delete(path, 'weights')
  }

  /** Services load a state only into a new model. */
  async #replace(path: string, signal: AbortSignal): Promise<void> {
    const next = await RemoteModel.create(this.place.session, this.place.adapter, signal)
    try {
      await next.loadState(path, signal)
    } catch (error) {
      await next.unload()
      throw error
    }
    this.#retired.push(this.#model)
    this.#model = next
    this.#there = 'none'
    this.#torn = false
    this.#pulls = []
    await this.#forgetSampled()
  }

  save(dir: string, call: Call): Promise<void> {
    return this.order.run(call, 'save', async (signal) => {
      this.#refuseTorn()
      const { session, adapter } = this.place
      const path = await this.#model.saveState(nameOf(`step-${this.#steps}`), signal)
      await writeState(dir, { service: session.url, path, base_model: adapter.baseModel, rank: adapter.rank })
      await this.#export(join(dir, 'huggingface'), signal)
      await exportAdapter(join(dir, 'lora_adapter'), await this.#forSamplers(signal), this.place, signal)
    })
  }

  load(dir: string, call: Call): Promise<void> {
    return this.order.run(call, 'load', async (signal) => {
      const { baseModel, rank } = this.place.adapter
      const { path } = await readState(dir, { base_model: baseModel, rank })
      await this.#replace(path, signal)
    })
  }

  saveWeights(dir: string, call: Call): Promise<void> {
    return this.order.run(call, 'saveWeights', async (signal) => {
      this.#refuseTorn()
      await this.#export(dir, signal)
    })
  }

  async #export(dir: string, signal: AbortSignal): Promise<void> {
    const path = await this.#forSamplers(signal)
    this.#at.paths.keep(path)
    await exportWeights(dir, path, this.place, signal)
  }

  handOver(to: readonly SampleModel[], version: number, inFlight: InFlight, call: Call): Promise<string> {
    const isOwn = (model: SampleModel): model is TinkerSampleModel =>
      model instanceof TinkerSampleModel && model.home === this.home
    if (!to.every(isOwn)) throw foreignModel('handOver')
    return within(call, `transfer of weights ${version}`, async (signal) => {
      this.#refuseTorn()
      const path = await this.#forSamplers(signal)
      for (const sampler of to) await sampler.take({ path }, version, inFlight, signal)
      for (const model of this.#retired.splice(0)) await model.unload()
      return path
    })
  }

  async #forSamplers(signal: AbortSignal): Promise<string> {
    if (this.#sampled !== undefined) return this.#sampled
    const path = await this.#model.saveForSampler(nameOf(`sampler-${this.#steps}`), signal)
    this.#at.paths.hold(path)
    this.#sampled = path
    return path
  }

  async #forgetSampled(): Promise<void> {
    const path = this.#sampled
    this.#sampled = undefined
    if (path !== undefined) await this.#at.paths.release(path)
  }

  override async close(): Promise<void> {
    await this.#forgetSampled()
    for (const model of [...this.#retired.splice(0), this.#model]) await model.unload()
    await super.close()
  }

  #checkWhole(): void {
    this.check()
    this.#refuseTorn()
    if (this.#there === 'partial') throw incompleteGradient(this.place.spec.path)
  }

  #refuseTorn(): void {
    if (!this.#torn) return
    throw new TrinityError('engine/torn-model', 'a step at the Tinker service failed, and its weights are not known', {
      path: this.place.spec.path,
      hint: 'start the run again: it resumes from the last checkpoint',
    })
  }
}

const RENEW_MS = 300_000

/** Names must not be taken yet. */
function nameOf(what: string): string {
  return `trinity-${what}-${randomUUID().slice(0, 8)}`
}

/** What a loss pulls at, where its derivative reads no score and every pull is a number; else undefined. */
function knownPulls(
  rows: readonly Row[],
  loss: Loss,
  norms: Readonly<Record<string, number>>,
  vocabSize: number,
): Pull[] | undefined {
  const kinds = givenKinds(loss)
  const { derivative } = lossProgram(loss.graph)
  // of several views only what one of them pulls at could be known, and metrics need them all
  if (kinds.length > 1 || derivative.nodes.some(({ op }) => op === 'score')) return undefined
  const views = viewsOf(rows, kinds, vocabSize)
  const none = views.map((view) => ({ view, logprobs: new Float32Array(0) }))
  const pulls = pullsOf(rows, blindGrads(rows, loss, norms), none)
  return pulls.length === views.length && pulls.every(isFinitePull) ? pulls : undefined
}
