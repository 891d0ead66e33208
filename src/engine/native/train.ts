import { type Evaluation, evaluateLoss, type TokenScores } from '../../graph/evaluate.js'
import { ordinary, silentRows } from '../../graph/silent.js'
import { within } from '../calls.js'
import { checkStep, checkWanted, foreignModel, incompleteGradient } from '../check.js'
import type {
  AdamStep,
  Batch,
  Call,
  ForwardBackward,
  InFlight,
  Loss,
  LossMetrics,
  Row,
  RowScores,
  SampleModel,
  ScoreKind,
  TrainModel,
} from '../contract.js'
import { mergeMetrics } from '../metrics.js'
import { ofOthers } from '../other-tokens.js'
import { checkRows, packRows } from '../pack.js'
import { loadState, saveHuggingFace, saveState } from './checkpoint.js'
import type { Distinct } from './distinct.js'
import { concat, sharedCounter } from './packed.js'
import { handOver, NATIVE_HOME } from './sampler/hand-over.js'
import { NativeSampleModel } from './sampler/native-sampler.js'
import { NativeScoreModel } from './score.js'

/**
 * A model that learns. Between a forward and a backward pass control comes back to TypeScript, which evaluates the loss
 * and its derivative by each score; so any loss works, and no token is computed twice for it.
 */
export class NativeTrainModel extends NativeScoreModel implements TrainModel {
  /** `partial`: a call stopped between micro-batches, on top of gradients that were complete. */
  #gradient: 'none' | 'whole' | 'partial' = 'none'
  readonly home = NATIVE_HOME

  forwardBackward(batch: Batch, loss: Loss, call: Call): Promise<ForwardBackward> {
    return this.order.run(call, 'forwardBackward', async (signal) => {
      checkRows(batch.rows, this.info)
      checkWanted(this.spec, loss.wants)
      this.#refusePartial()
      const before = this.#gradient
      this.#gradient = 'partial'
      try {
        const result = await this.#learn(batch, loss, signal)
        this.#gradient = 'whole'
        return result
      } catch (error) {
        // A half-added gradient must never be applied. Alone it is simply dropped, so that the call can be repeated.
        if (before === 'none') {
          await this.addon.zeroGrad(this.handle)
          this.#gradient = 'none'
        } else if (before === 'whole' && !this.#touched) {
          this.#gradient = 'whole'
        }
        throw error
      }
    })
  }

  #touched = false

  async #learn(batch: Batch, loss: Loss, signal: AbortSignal): Promise<ForwardBackward> {
    this.#touched = false
    const norms = loss.norms(batch.rows)
    const coupling = loss.coupling === 'bundle' ? 'bundle' : 'row'
    const whole = packRows(batch.rows, batch.tokenBudget, coupling, sharedCounter)
    if (loss.coupling === 'batch' && whole.length > 1) return this.#learnWhole(batch, loss, norms, whole, signal)
    const scores = new Map<Row, RowScores>()
    const results: Evaluation[] = []
    const { silent, heard } = apart(batch.rows, silentRows(loss.graph, batch.rows, norms), loss.coupling)
    for (const pack of packRows(silent, batch.tokenBudget, coupling, sharedCounter)) {
      // Without a gradient they are scored for the metrics alone, which takes a third of the time.
      const { scores: own } = await this.scorePack(pack, { scores: loss.wants }, false, signal)
      const result = evaluateLoss(loss, pack, norms, filled(own, loss))
      if (ordinary(own) && isZero(result.grads)) {
        this.deal(pack, own, loss.wants, scores)
        results.push(result)
      } else heard.push(...pack)
    }
    for (const pack of packRows(heard, batch.tokenBudget, coupling, sharedCounter)) {
      const { scores: own, distinct } = await this.scorePack(pack, { scores: loss.wants }, true, signal)
      const result = evaluateLoss(loss, pack, norms, filled(own, loss))
      await this.#backward(result.grads, distinct, loss, signal)
      this.deal(pack, own, loss.wants, scores)
      results.push(result)
    }
    return {
      loss: results.reduce((sum, result) => sum + result.loss, 0),
      metrics: mergeMetrics(results.map((result) => result.metrics)),
      scores: batch.rows.map((row) => scores.get(row)!),
    }
  }

  /** The loss needs every score at once: all forward passes first, then each micro-batch again with its gradients. */
  async #learnWhole(
    batch: Batch,
    loss: Loss,
    norms: Record<string, number>,
    packs: Row[][],
    signal: AbortSignal,
  ): Promise<ForwardBackward> {
    const scores = new Map<Row, RowScores>()
    const want = { scores: loss.wants }
    for (const pack of packs) {
      const { scores: own } = await this.scorePack(pack, want, false, signal)
      this.deal(pack, own, loss.wants, scores)
    }
    const dealt = batch.rows.map((row) => scores.get(row)!)
    const all: TokenScores = {}
    for (const kind of loss.wants) all[kind] = concat(dealt.map((score) => score[kind]!))
    const { loss: value, metrics, grads } = evaluateLoss(loss, batch.rows, norms, all)
    const perRow = new Map<Row, TokenScores>()
    const kinds = kindsOf(grads)
    this.deal([...batch.rows], grads, kinds, perRow as Map<Row, RowScores>)
    const heard = ordinary(all) ? batch.rows.filter((row) => !isZero(perRow.get(row)!, kinds)) : batch.rows
    for (const pack of packRows(heard, batch.tokenBudget, 'row', sharedCounter)) {
      const { distinct } = await this.scorePack(pack, want, true, signal)
      const own: TokenScores = {}
      for (const kind of kinds) own[kind] = concat(pack.map((row) => perRow.get(row)![kind]!))
      await this.#backward(own, distinct, loss, signal)
    }
    return { loss: value, metrics: metrics as LossMetrics, scores: dealt }
  }

  async #backward(grads: TokenScores, distinct: Distinct, { wants }: Loss, signal: AbortSignal): Promise<void> {
    const sums: TokenScores = {}
    for (const kind of kindsOf(grads)) sums[kind] = distinct.sum(grads[kind]!)
    const length = Object.values(sums)[0]?.length ?? 0
    const others = concat(ofOthers(wants).map((kind) => sums[kind] ?? new Float32Array(length)))
    await this.run(signal, () => {
      this.#touched = true
      return this.addon.backward(this.handle, { ...sums, others })
    })
  }

  optimStep(step: AdamStep, call: Call): Promise<{ gradNorm: number; applied: boolean }> {
    return this.order.run(call, 'optimStep', async (signal) => {
      this.#refusePartial()
      checkStep(step)
      const { lr, eps, weightDecay, gradClip } = step
      const [beta1, beta2] = step.betas
      const numbers = { lr, beta1, beta2, eps, weightDecay, gradClip }
      const result = await this.run(signal, () => this.addon.step(this.handle, numbers))
      this.#gradient = 'none'
      return result
    })
  }

  discardGrad(call: Call): Promise<void> {
    return this.order.run(call, 'discardGrad', async (signal) => {
      await this.run(signal, () => this.addon.zeroGrad(this.handle))
      this.#gradient = 'none'
    })
  }

  save(dir: string, call: Call): Promise<void> {
    return this.order.run(call, 'save', (signal) => this.run(signal, () => saveState(this, dir, signal)))
  }

  saveWeights(dir: string, call: Call): Promise<void> {
    return this.order.run(call, 'saveWeights', (signal) => this.run(signal, () => saveHuggingFace(this, dir, signal)))
  }

  load(dir: string, call: Call): Promise<void> {
    return this.order.run(call, 'load', async (signal) => {
      await this.run(signal, () => loadState(this, dir, signal))
      this.#gradient = 'none'
    })
  }

  handOver(to: readonly SampleModel[], version: number, inFlight: InFlight, call: Call): Promise<string> {
    const isOwn = (model: SampleModel): model is NativeSampleModel => model instanceof NativeSampleModel
    if (!to.every(isOwn)) throw foreignModel('handOver')
    return within(call, `transfer of weights ${version}`, (signal) => handOver(this, to, version, inFlight, signal))
  }

  #refusePartial(): void {
    if (this.#gradient !== 'partial') return
    throw incompleteGradient(this.spec.path)
  }
}

/** Rows without a gradient, and the others. What must be evaluated together is silent only as a whole. */
function apart(rows: readonly Row[], silent: readonly boolean[], coupling: Loss['coupling']) {
  const loud = new Set(rows.filter((_, i) => !silent[i]).map((row) => unitOf(row, coupling)))
  const isLoud = (row: Row) => loud.has(unitOf(row, coupling))
  return { silent: rows.filter((row) => !isLoud(row)), heard: rows.filter(isLoud) }
}

function unitOf(row: Row, coupling: Loss['coupling']): Row | string {
  return coupling === 'row' ? row : coupling === 'batch' ? 'batch' : (row.bundle ?? row)
}

function isZero(grads: TokenScores, kinds = kindsOf(grads)): boolean {
  return kinds.every((kind) => grads[kind]!.every((x) => x === 0))
}

function kindsOf(scores: TokenScores): ScoreKind[] {
  return Object.keys(scores) as ScoreKind[]
}

/** A pack without scored tokens has no scores; the loss still wants arrays. */
function filled(scores: TokenScores, { wants }: Loss): TokenScores {
  if (kindsOf(scores).length > 0) return scores
  return Object.fromEntries(wants.map((kind) => [kind, new Float32Array(0)]))
}
