import { TrinityError } from '../../base/error.js'
import type { ModelConfig } from '../../model/config.js'
import { parameterCount } from '../../model/layout.js'
import { CallOrder } from '../calls.js'
import { checkWanted } from '../check.js'
import type {
  Batch,
  Call,
  MemoryReport,
  ModelInfo,
  ModelSpec,
  Row,
  RowScores,
  ScoreKind,
  ScoreModel,
  Want,
} from '../contract.js'
import { checkRows } from '../pack.js'
import { datumOf, scoredOf, spread, type View, viewsOf } from './data.js'
import { isGiven } from './estimate.js'
import { unsupported } from './failure.js'
import { type AdapterSpec, RemoteModel } from './remote-model.js'
import type { TinkerSession } from './session.js'

/** A model at the service, and what is known of it here. */
export interface TinkerPlace {
  readonly session: TinkerSession
  readonly adapter: AdapterSpec
  readonly spec: ModelSpec
  readonly config: ModelConfig
  readonly notes: readonly string[]
}

/** A view with the log-probs of all its tokens. */
export interface Scored {
  readonly view: View
  readonly logprobs: Float32Array
}

/** Scores with an adapter that was never trained, which is the base model. */
export class TinkerScoreModel implements ScoreModel {
  readonly info: ModelInfo
  readonly place: TinkerPlace
  protected readonly order = new CallOrder('model at a Tinker service')
  /** An adapter that nobody trains, once it is needed. */
  #base: Promise<RemoteModel> | undefined
  #open = true

  constructor(place: TinkerPlace) {
    this.place = place
    this.info = infoOf(place)
  }

  forward({ rows }: Batch, want: Want, call: Call): Promise<RowScores[]> {
    return this.order.run(call, 'forward', async (signal) => {
      this.check()
      this.checkRows(rows, want.scores)
      const missing = want.scores.find((kind) => !isGiven(kind))
      if (missing !== undefined) {
        const hint = 'use an algorithm that reads log-probs alone, or another engine'
        throw unsupported(`does not give ${missing} of a token`, 'algorithm', hint)
      }
      const scored = await this.scoreWith(await this.scorer(want, signal), rows, want.scores, signal)
      return dealt(rows, want.scores, scored)
    })
  }

  /** The remote model that answers a want. */
  protected scorer(_want: Want, signal: AbortSignal): Promise<RemoteModel> {
    return this.base(signal)
  }

  protected base(signal: AbortSignal): Promise<RemoteModel> {
    this.#base ??= RemoteModel.create(this.place.session, this.place.adapter, signal)
    // a failure may pass
    this.#base.catch(() => {
      this.#base = undefined
    })
    return this.#base
  }

  protected async scoreWith(
    model: RemoteModel,
    rows: readonly Row[],
    kinds: readonly ScoreKind[],
    signal: AbortSignal,
  ): Promise<Scored[]> {
    const views = viewsOf(rows, kinds, this.info.vocabSize)
    const data = views.map((view) =>
      datumOf(view, { weights: spread(view.row, new Float32Array(view.row.mask.length).fill(1)) }),
    )
    const logprobs = await model.forward(data, signal)
    return views.map((view, i) => ({ view, logprobs: logprobs[i] }))
  }

  protected checkRows(rows: readonly Row[], kinds: readonly ScoreKind[]): void {
    checkRows(rows, this.info)
    checkWanted(this.place.spec, kinds)
    const warm = rows.find(({ temperature }) => temperature !== 1)
    if (!warm) return
    throw unsupported(
      `computes log-probs at temperature 1, and row '${warm.id}' was sampled at ${warm.temperature}`,
      'model.temperature',
      'sample what is trained at temperature 1 (model.temperature, explorer.rollout_model.temperature)',
    )
  }

  check(): void {
    if (!this.#open) throw new TrinityError('engine/closed', 'the model is closed', { path: this.place.spec.path })
  }

  /** Nothing of it lies here. */
  memory(): MemoryReport {
    return { weights: 0, gradients: 0, optimizer: 0, activations: 0, cache: 0 }
  }

  async close(): Promise<void> {
    if (!this.#open) return
    this.#open = false
    await (await this.#base?.catch(() => undefined))?.unload()
  }
}

/** The part of each row, in the order of the rows. */
export function dealt(rows: readonly Row[], kinds: readonly ScoreKind[], scored: readonly Scored[]): RowScores[] {
  const found = new Map<Row, Map<ScoreKind, Float32Array>>(rows.map((row) => [row, new Map()]))
  for (const { view, logprobs } of scored) found.get(view.row)!.set(view.kind, scoredOf(view.row, logprobs))
  return rows.map((row) => {
    const own = found.get(row)!
    return { id: row.id, ...Object.fromEntries(kinds.map((kind) => [kind, own.get(kind) ?? new Float32Array(0)])) }
  })
}

export function infoOf({ config, spec, notes }: TinkerPlace): ModelInfo {
  return {
    architecture: config.architecture,
    parameters: parameterCount(config),
    trainableParameters: 0,
    vocabSize: config.vocabSize,
    maxModelLen: Math.min(spec.maxModelLen ?? config.maxPositions, config.maxPositions),
    notes,
  }
}
