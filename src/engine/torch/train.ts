import { TrinityError } from '../../error.js'
import type { JsonObject } from '../../file/json-file.js'
import { rememberHashes } from '../../file/written-hash.js'
import { normOf } from '../../graph/evaluate.js'
import { graphInputs } from '../../graph/graph.js'
import { checkStep, checkWanted, incompleteGradient } from '../check.js'
import type { AdamStep, Batch, Call, ForwardBackward, Loss, Metric, Metrics, TrainModel } from '../contract.js'
import { checkRows } from '../pack.js'
import type { Answer, Tensors } from './connection.js'
import { numberOf } from './frames.js'
import { columnTensors, dealScores, rowTensors } from './rows.js'
import { TorchScoreModel } from './score.js'

/** A model that learns. The loss travels as data and is differentiated by the workers. */
export class TorchTrainModel extends TorchScoreModel implements TrainModel {
  /** A step or a load that failed half-way has left weights that nobody may train or save. */
  #torn: string | undefined
  /** `partial`: a call stopped between micro-batches, on top of gradients that were complete. */
  #gradient: 'none' | 'whole' | 'partial' = 'none'

  forwardBackward({ rows, tokenBudget }: Batch, loss: Loss, call: Call): Promise<ForwardBackward> {
    return this.order.run(call, 'forwardBackward', async (signal) => {
      this.#refuseBroken()
      checkRows(rows, this.info)
      checkWanted(this.spec, loss.wants)
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
        metrics: metricsOf(result.metrics as Record<string, Metric>),
        scores: dealScores(rows, wants, tensors),
        computeSeconds: numberOf((result.seconds as JsonObject).compute),
      }
    })
  }

  async #learn(args: JsonObject, tensors: Tensors, signal: AbortSignal): Promise<Answer> {
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
    throw new TrinityError('engine/torn-model', `${this.#torn} failed half-way and left weights that are not whole`, {
      path: this.spec.path,
      hint: 'load a checkpoint, or start the run again: it goes on from the last one',
    })
  }
}

function metricsOf(given: Record<string, Metric>): Metrics {
  return Object.fromEntries(
    Object.entries(given).map(([name, { value, weight, reduce }]) => [
      name,
      { value: numberOf(value), weight: numberOf(weight), reduce },
    ]),
  )
}
