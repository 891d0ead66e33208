import { type BuiltLoss, toRows } from '../algorithm/index.js'
import { Pcg64 } from '../base/random/index.js'
import { nextCall } from '../engine/calls.js'
import type { ForwardBackward, LossMetrics, RowScores, TrainModel } from '../engine/contract.js'
import type { Experience } from '../experience/index.js'
import type { PairColumns } from './scores.js'
import type { UpdateSettings } from './settings.js'

export interface UpdateInput {
  readonly model: TrainModel
  readonly loss: BuiltLoss
  readonly settings: UpdateSettings
  readonly experiences: readonly Experience[]
  readonly step: number
  readonly pairs?: PairColumns
  readonly signal?: AbortSignal
}

export interface UpdateResult {
  readonly metrics: Record<string, number>
  /** Scores of the rows that were seen before the first change of the weights. */
  readonly scores: ReadonlyMap<string, RowScores>
  readonly updates: number
  /** Updates that were not applied, because their loss or their gradient was not finite. */
  readonly refused: number
}

/** Passes over the experiences: each mini-batch is one gradient and one step of the optimizer. */
export async function update(input: UpdateInput): Promise<UpdateResult> {
  const { model, loss, settings, experiences, step, pairs, signal } = input
  const lr = settings.schedule.at(step)
  const scores = new Map<string, RowScores>()
  const numbers: Record<string, number>[] = []
  let refused = 0
  for (let epoch = 0; epoch < settings.epochs; epoch++) {
    for (const batch of miniBatches(experiences, settings, step, epoch)) {
      const later = pairs?.names.filter(() => batch.some(({ type }) => type === 'dpo'))
      const rows = toRows(batch, loss.columns, { step, later }).map((row) => pairs?.fill(row) ?? row)
      const result = await model.forwardBackward({ rows, tokenBudget: settings.budget(rows) }, loss, nextCall(signal))
      if (numbers.length === 0) for (const score of result.scores) scores.set(score.id, score)
      // A comparison with NaN is false, so the gradient of a loss that is NaN may well be finite. It is worth nothing.
      if (!Number.isFinite(result.loss)) {
        await model.discardGrad(nextCall(signal))
        refused++
        numbers.push(values(result))
        continue
      }
      const { gradNorm, applied } = await model.optimStep({ ...settings.adam, lr }, nextCall(signal))
      if (!applied) refused++
      numbers.push({ ...values(result), grad_norm: gradNorm })
    }
  }
  const metrics = { ...average(numbers), lr }
  return { metrics, scores, updates: numbers.length, refused }
}

function miniBatches(
  experiences: readonly Experience[],
  { miniBatch, shuffle, seed }: UpdateSettings,
  step: number,
  epoch: number,
): Experience[][] {
  const order = shuffle
    ? [...new Pcg64(seedOf(seed, step, epoch)).permutation(experiences.length)].map((i) => experiences[i])
    : [...experiences]
  const size = miniBatch ?? Math.max(1, order.length)
  const batches: Experience[][] = []
  for (let at = 0; at < order.length; at += size) batches.push(order.slice(at, at + size))
  return batches
}

/** Streams of different steps and passes have nothing in common. */
export function seedOf(seed: number, step: number, epoch = 0): bigint {
  return (BigInt(seed) << 64n) | (BigInt(step) << 16n) | BigInt(epoch)
}

function values({ loss, metrics, scores }: ForwardBackward): Record<string, number> {
  const named = Object.entries(metrics as LossMetrics).map(([name, { value }]) => [name, value] as const)
  const entropy = meanEntropy(scores)
  return { loss, ...(entropy === undefined ? {} : { entropy }), ...Object.fromEntries(named) }
}

function meanEntropy(scores: readonly RowScores[]): number | undefined {
  let [sum, count] = [0, 0]
  for (const { entropy } of scores) {
    if (!entropy) continue
    for (let i = 0; i < entropy.length; i++) sum += entropy[i]
    count += entropy.length
  }
  return count > 0 ? sum / count : undefined
}

/** Of every number over the updates that have it. */
function average(numbers: readonly Record<string, number>[]): Record<string, number> {
  const sums = new Map<string, { sum: number; count: number }>()
  for (const one of numbers) {
    for (const [name, value] of Object.entries(one)) {
      const sofar = sums.get(name) ?? { sum: 0, count: 0 }
      sums.set(name, { sum: sofar.sum + value, count: sofar.count + 1 })
    }
  }
  return Object.fromEntries([...sums].map(([name, { sum, count }]) => [name, sum / count]))
}
