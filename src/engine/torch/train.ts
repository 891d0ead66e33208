import { TrinityError } from '../../base/error.js'
import type { JsonObject } from '../../base/file/json-file.js'
import { rememberHashes } from '../../base/file/written-hash.js'
import { normOf } from '../../graph/evaluate.js'
import { graphInputs } from '../../graph/graph.js'
import { within } from '../calls.js'
import { checkStep, checkWanted, foreignModel, incompleteGradient } from '../check.js'
import type {
  AdamStep,
  Batch,
  Call,
  ForwardBackward,
  InFlight,
  Loss,
  LossMetric,
  LossMetrics,
  SampleModel,
  TrainModel,
  WeightSender,
} from '../contract.js'
import { ofOthers, otherTokens } from '../other-tokens.js'
import { checkRows } from '../pack.js'
import type { Tensors, WorkerAnswer } from './connection.js'
import { numberOf } from './frames.js'
import { columnTensors, dealScores, rowTensors } from './rows.js'
import { protocolOf, TorchSampleModel } from './sampler.js'
import { TorchScoreModel } from './score.js'

/** Longest wait for one piece of the weights. Less than a cancelled call may take before its workers are killed. */
const PIECE_S = 20

/** A model that learns. The loss travels as data and is differentiated by the workers. */
export class TorchTrainModel extends TorchScoreModel implements TrainModel {
  readonly sender: WeightSender = {
    protocol: protocolOf(this.group),
    offer: async (size) => ({ ...(await this.group.ground.meeting()), size, seconds: PIECE_S, dtype: this.dtype }),
    join: async (group, rank, signal) => void (await this.ask('link', { ...group, rank }, signal)),
    send: async (signal) => String((await this.ask('sendWeights', {}, signal)).result.checksum),
  }
  /** A step or a load that failed half-way has left weights that nobody may train or save. */
  #torn: string | undefined
  /** `partial`: a call stopped between micro-batches, on top of gradients that were complete. */
  #gradient: 'none' | 'whole' | 'partial' = 'none'

  forwardBackward({ rows, tokenBudget }: Batch, loss: Loss, call: Call): Promise<ForwardBackward> {
    return this.order.run(call, 'forwardBackward', async (signal) => {
      this.#refuseBroken()
      checkRows(rows, this.info)
      checkWanted(this.spec, loss.wants)
      for (const kind of ofOthers(loss.wants)) otherTokens(rows, kind, this.info.vocabSize)
      const columns = columnTensors(loss.graph, rows)
      const norms = loss.norms(rows)
      const { graph, wants, coupling } = loss
      for (const name of graphInputs(graph).norms) normOf(norms, name)
      const { result, tensors } = await this.#learn(
        { graph, norms, wants, coupling, tokenBudget, columns: columns.shapes },
        { ...rowTensors(rows), ...columns.tensors },
        signal,
      )
      return {
        loss: numberOf(result.loss),
        metrics: metricsOf(result.metrics as Record<string, LossMetric>),
        scores: dealScores(rows, wants, tensors),
        computeSeconds: numberOf((result.seconds as JsonObject).compute),
      }
    })
  }

  async #learn(args: JsonObject, tensors: Tensors, signal: AbortSignal): Promise<WorkerAnswer> {
    const before = this.#gradient
    this.#gradient = 'partial'
    try {
      const answer = await this.ask('forwardBackward', args, signal, tensors)
      this.#gradient = 'whole'
      return answer
    } catch (error) {
      // A half-added gradient must never be applied, and ranks may have come to different points. Alone it is simply
      // dropped everywhere, so that the call can be repeated.
      if (before === 'none') {
        await this.ask('discardGrad', {}, new AbortController().signal).then(
          () => {
            this.#gradient = 'none'
          },
          () => {},
        )
      }
      throw error
    }
  }

  optimStep(step: AdamStep, call: Call): Promise<{ gradNorm: number; applied: boolean }> {
    return this.order.run(call, 'optimStep', async (signal) => {
      this.#refuseBroken()
      checkStep(step)
      const { result } = await this.#whole('optimStep', { ...step }, signal)
      this.#gradient = 'none'
      return { gradNorm: numberOf(result.gradNorm), applied: result.applied === true }
    })
  }

  discardGrad(call: Call): Promise<void> {
    return this.order.run(call, 'discardGrad', async (signal) => {
      await this.ask('discardGrad', {}, signal)
      this.#gradient = 'none'
    })
  }

  save(dir: string, call: Call): Promise<void> {
    return this.order.run(call, 'save', async (signal) => {
      this.#refuseTorn()
      await rememberHashes(dir, (await this.ask('save', { dir }, signal)).result.files)
    })
  }

  saveWeights(dir: string, call: Call): Promise<void> {
    return this.order.run(call, 'saveWeights', async (signal) => {
      this.#refuseTorn()
      await rememberHashes(dir, (await this.ask('saveWeights', { dir }, signal)).result.files)
    })
  }

  load(dir: string, call: Call): Promise<void> {
    return this.order.run(call, 'load', async (signal) => {
      await this.#whole('load', { dir }, signal)
      this.#torn = undefined
      this.#gradient = 'none'
    })
  }

  handOver(to: readonly SampleModel[], version: number, inFlight: InFlight, call: Call): Promise<string> {
    const isOwn = (model: SampleModel): model is TorchSampleModel =>
      model instanceof TorchSampleModel && model.home === this.home
    if (!to.every(isOwn)) throw foreignModel('handOver')
    return within(call, `transfer of weights ${version}`, async (signal) => {
      for (const sampler of to) sampler.check()
      const handles = to.map((sampler) => sampler.handle)
      const { result } = await this.ask('transfer', { to: handles, version, inFlight }, signal)
      for (const sampler of to) sampler.version = version
      return String(result.checksum)
    })
  }

  /** What must not end half-way. A worker that knows its error has changed nothing yet; any other may have. */
  async #whole(op: string, args: JsonObject, signal: AbortSignal) {
    try {
      return await this.ask(op, args, signal)
    } catch (error) {
      const code = error instanceof TrinityError ? error.code : ''
      if (['engine/torch', 'engine/memory', 'engine/device'].includes(code)) this.#torn = op
      throw error
    }
  }

  #refuseBroken(): void {
    this.#refuseTorn()
    if (this.#gradient === 'partial') throw incompleteGradient(this.spec.path)
  }

  #refuseTorn(): void {
    if (this.#torn === undefined) return
    throw new TrinityError('engine/torn-model', `${this.#torn} failed halfway and left incomplete weights`, {
      path: this.spec.path,
      hint: 'load a checkpoint, or start the run again: it resumes from the last one',
    })
  }
}

function metricsOf(given: Record<string, LossMetric>): LossMetrics {
  return Object.fromEntries(
    Object.entries(given).map(([name, { value, weight, reduce }]) => [
      name,
      { value: numberOf(value), weight: numberOf(weight), reduce },
    ]),
  )
}
