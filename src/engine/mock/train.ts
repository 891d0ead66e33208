import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../../base/error.js'
import { makeFolder } from '../../base/file/make-folder.js'
import { evaluateLoss, type TokenScores } from '../../graph/evaluate.js'
import { CallOrder, within } from '../calls.js'
import { foreignModel } from '../check.js'
import type {
  AdamStep,
  Batch,
  Call,
  ForwardBackward,
  InFlight,
  Loss,
  LossMetrics,
  MemoryReport,
  ModelInfo,
  Row,
  RowScores,
  SampleModel,
  ScoreKind,
  TrainModel,
  Want,
} from '../contract.js'
import { mergeMetrics } from '../metrics.js'
import { concat } from '../native/packed.js'
import { ofOthers, otherTokens } from '../other-tokens.js'
import { checkRows, packRows } from '../pack.js'
import { Bigram, type BigramState, entropyOf, squaresOf } from './bigram.js'

/** Models of this process share its memory. */
export const MOCK_HOME = { where: 'this process' }

const FOLDER = 'huggingface'
const STATE_FILE = 'mock.json'

/** A trained bigram behind the contract. It packs into micro-batches as a real engine does. */
export class MockTrainModel implements TrainModel {
  readonly bigram: Bigram
  readonly info: ModelInfo
  readonly home = MOCK_HOME
  readonly #order: CallOrder

  constructor(info: ModelInfo, name: string) {
    this.info = info
    this.bigram = new Bigram(info.vocabSize)
    this.#order = new CallOrder(name)
  }

  forward(batch: Batch, want: Want, call: Call): Promise<RowScores[]> {
    return this.#order.run(call, 'forward', async () => {
      checkRows(batch.rows, this.info)
      return batch.rows.map((row) => this.score(row, want.scores))
    })
  }

  forwardBackward(batch: Batch, loss: Loss, call: Call): Promise<ForwardBackward> {
    return this.#order.run(call, 'forwardBackward', async () => {
      checkRows(batch.rows, this.info)
      const norms = loss.norms(batch.rows)
      const scores = new Map<Row, RowScores>()
      const metrics: LossMetrics[] = []
      let total = 0
      for (const pack of packRows(batch.rows, batch.tokenBudget, loss.coupling)) {
        const own = pack.map((row) => this.score(row, loss.wants))
        pack.forEach((row, i) => void scores.set(row, own[i]))
        const all = loss.wants.map((kind) => [kind, concat(own.map((s) => s[kind]!))])
        const result = evaluateLoss(loss, pack, norms, Object.fromEntries(all))
        total += result.loss
        metrics.push(result.metrics)
        this.#backward(pack, result.grads)
      }
      return { loss: total, metrics: mergeMetrics(metrics), scores: batch.rows.map((row) => scores.get(row)!) }
    })
  }

  optimStep(step: AdamStep, call: Call): Promise<{ gradNorm: number; applied: boolean }> {
    return this.#order.run(call, 'optimStep', async () => this.bigram.adam(step))
  }

  discardGrad(call: Call): Promise<void> {
    return this.#order.run(call, 'discardGrad', async () => this.bigram.discardGradient())
  }

  save(dir: string, call: Call): Promise<void> {
    return this.saveWeights(join(dir, FOLDER), call)
  }

  saveWeights(dir: string, call: Call): Promise<void> {
    return this.#order.run(call, 'save', async () => {
      await makeFolder(dir)
      await writeFile(join(dir, STATE_FILE), JSON.stringify(this.bigram))
    })
  }

  load(dir: string, call: Call): Promise<void> {
    return this.#order.run(call, 'load', async () => {
      this.bigram.restore(await this.#read(join(dir, FOLDER)))
    })
  }

  /** Weights alone: the optimizer starts anew. Any directory will do; one without weights of this engine gives zeros. */
  async start(dir: string): Promise<void> {
    const found = existsSync(join(dir, STATE_FILE))
    this.bigram.weights = found
      ? Float64Array.from((await this.#read(dir)).weights)
      : new Bigram(this.info.vocabSize).weights
  }

  async #read(dir: string): Promise<BigramState> {
    const state = JSON.parse(await readFile(join(dir, STATE_FILE), 'utf8')) as BigramState
    if (state.vocabSize === this.info.vocabSize) return state
    const text = `vocabulary of ${state.vocabSize}, model has ${this.info.vocabSize}`
    throw new TrinityError('engine/bad-checkpoint', text, { path: dir })
  }

  memory(): MemoryReport {
    const bytes = this.info.parameters * 8
    return { weights: bytes, gradients: bytes, optimizer: 2 * bytes, activations: 0, cache: 0 }
  }

  async close(): Promise<void> {}

  score(row: Row, wants: Want['scores']): RowScores {
    const own = row.tokens.subarray(row.start)
    const ofEach: Record<string, (all: Float64Array, i: number, prev: number) => number> = {
      logprob: (all, i) => all[own[i]],
      entropy: entropyOf,
      sum_pi_squared: squaresOf,
      value: (_all, _i, prev) => this.bigram.value(prev),
    }
    for (const kind of ofOthers(wants)) {
      const ids = otherTokens([row], kind, this.info.vocabSize)
      ofEach[kind] = (all, i) => all[ids[i]]
    }
    const prevs = row.tokens.subarray(row.start - 1, -1)
    const logprobs = Array.from(prevs, (prev) => this.bigram.logprobs(prev, row.temperature))
    const scores = (kind: ScoreKind) => Float32Array.from(own, (_, i) => ofEach[kind](logprobs[i], i, prevs[i]))
    return { id: row.id, ...Object.fromEntries(wants.map((kind) => [kind, scores(kind)])) }
  }

  handOver(to: readonly SampleModel[], version: number, inFlight: InFlight, call: Call): Promise<string> {
    const isOwn = (model: SampleModel): model is SampleModel & Receiver => model.home === MOCK_HOME
    if (!to.every(isOwn)) throw foreignModel('handOver')
    return within(call, `transfer of weights ${version}`, async () => {
      await Promise.all(to.map((sampler) => sampler.receive(this, version, inFlight)))
      return checksum(this.bigram.weights)
    })
  }

  #backward(rows: Row[], grads: TokenScores): void {
    const kinds = ofOthers(Object.keys(grads) as ScoreKind[])
    const ids = kinds.map((kind) => otherTokens(rows, kind, this.info.vocabSize))
    const by = (kind: ScoreKind, at: number) => grads[kind]?.[at] ?? 0
    let at = 0
    for (const row of rows) {
      for (let i = row.start; i < row.tokens.length; i++, at++) {
        const others = kinds.map((kind, k) => ({ token: ids[k][at], pull: by(kind, at) }))
        this.bigram.backward(row.tokens[i - 1], row.temperature, {
          logprobs: [{ token: row.tokens[i], pull: by('logprob', at) }, ...others],
          entropy: by('entropy', at),
          squares: by('sum_pi_squared', at),
          value: by('value', at),
        })
      }
    }
  }
}

/** A sampler of this engine. */
interface Receiver {
  receive(from: MockTrainModel, version: number, inFlight: InFlight): Promise<void>
}

/** FNV-1a over the bytes. */
function checksum(weights: Float64Array): string {
  let hash = 0x811c9dc5
  for (const byte of new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  }
  return hash.toString(16).padStart(8, '0')
}
