import { type BuiltLoss, toRows } from '../algorithm/index.js'
import { nextCall } from '../engine/calls.js'
import type { ForwardBackward, LossMetrics, Row, RowScores, TrainModel } from '../engine/contract.js'
import type { Experience } from '../experience/index.js'
import type { PairColumns } from './scores.js'
import type { UpdateSettings } from './settings.js'

export interface UpdateInput {
  readonly model: TrainModel
  readonly loss: BuiltLoss
  readonly settings: UpdateSettings
  readonly experiences: readonly Experience[]
  /** Further rows of the mini-batch, without a token that the loss sees. */
  readonly empty: readonly Experience[]
  readonly step: number
  readonly pairs?: PairColumns
  readonly signal?: AbortSignal
}

export interface UpdateResult {
  readonly metrics: Record<string, number>
  /** Scores of the rows that were seen before the first change of the weights. */
  readonly scores: ReadonlyMap<string, RowScores>
  readonly updates: number
  /** By normalizer: how much larger rows without a token have made it; empty where there are none. */
  readonly dilution: Readonly<Record<string, number>>
  /** Updates that were not applied, because their loss or their gradient was not finite. */
  readonly refused: number
}

/** Passes over the experiences: each is one gradient and one step of the optimizer. */
export async function update(input: UpdateInput): Promise<UpdateResult> {
  const { model, settings, experiences, step, pairs, signal } = input
  const further = toRows(input.empty, input.loss.columns, { step, counted: true })
  const loss = further.length === 0 ? input.loss : withRows(input.loss, further)
  const lr = settings.schedule.at(step)
  const scores = new Map<string, RowScores>()
  const numbers: Record<string, number>[] = []
  let refused = 0
  const later = pairs?.names.filter(() => experiences.some(({ type }) => type === 'dpo'))
  const rows = toRows(experiences, loss.columns, { step, later }).map((row) => pairs?.fill(row) ?? row)
  for (let epoch = 0; epoch < settings.epochs && rows.length > 0; epoch++) {
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
  const metrics = { ...average(numbers), lr }
  const dilution = further.length === 0 ? {} : ratios(loss.norms(rows), input.loss.norms(rows))
  return { metrics, scores, dilution, updates: numbers.length, refused }
}

/** A loss that divides by these rows too, though no pass sees them. */
const withRows = (loss: BuiltLoss, further: readonly Row[]): BuiltLoss => ({
  ...loss,
  norms: (rows) => loss.norms([...rows, ...further]),
})

const ratios = (some: Readonly<Record<string, number>>, others: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(some).map(([name, value]) => [name, value / others[name]]))

/** Streams of different steps have nothing in common. */
export function seedOf(seed: number, step: number): bigint {
  return (BigInt(seed) << 64n) | (BigInt(step) << 16n)
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
