import { machineFacts, readText, resolveConfig } from '../../config/index.js'
import { nextCall } from '../../engine/calls.js'
import type { ScoreModel } from '../../engine/contract.js'
import { openEngine } from '../../engine/registry.js'
import { readModelConfig } from '../../model/index.js'
import { loadCatalog } from '../../run/catalog.js'
import { Closers } from '../../run/closers.js'
import { openBase } from '../../run/models.js'
import type { RolloutScores } from '../api.js'

/** Tokens to score by a model directory. */
export interface ToScore {
  readonly model: string
  readonly tokens: readonly number[]
  /** First scored position, ≥ 1. */
  readonly start: number
  readonly temperature: number
}

/** Says how likely given tokens are to a model, and how sure it is at each of them. The last model stays open. */
export class Scores {
  #open: { readonly path: string; readonly closers: Closers; readonly model: Promise<ScoreModel> } | undefined

  async of(query: ToScore, note: (text: string) => void, signal: AbortSignal): Promise<RolloutScores> {
    const model = await this.#modelAt(query.model, note)
    const tokens = Int32Array.from(query.tokens)
    const { start, temperature } = query
    const row = {
      id: '0',
      tokens,
      start,
      temperature,
      mask: new Uint8Array(tokens.length - start).fill(1),
      columns: {},
    }
    const want = { scores: ['logprob', 'entropy'] as const }
    const [scores] = await model.forward({ rows: [row], tokenBudget: tokens.length }, want, nextCall(signal))
    return { logprob: numbers(scores.logprob), entropy: numbers(scores.entropy) }
  }

  async #modelAt(path: string, note: (text: string) => void): Promise<ScoreModel> {
    if (this.#open?.path !== path) {
      await this.#open?.closers.close().catch(() => {})
      const closers = new Closers()
      this.#open = { path, closers, model: openToScore(path, note, closers) }
    }
    const { model } = this.#open
    return model.catch((error) => {
      this.#open = undefined
      throw error
    })
  }
}

async function openToScore(path: string, note: (text: string) => void, closers: Closers): Promise<ScoreModel> {
  const { maxPositions } = (await readModelConfig(path)).config
  const model = { model_path: path, max_model_len: maxPositions }
  const parsed = readText(JSON.stringify({ mode: 'bench', model }), 'trinity')
  const { stages } = resolveConfig(parsed, machineFacts(), await loadCatalog([parsed]))
  const { config } = stages[0]
  const view = { phase: (_: string, what: string) => note(what), metrics() {}, note, end() {}, close() {} }
  const signal = new AbortController().signal
  const base = await openBase({ config, startFrom: null, openEngine, engineNamed: true, view, signal, closers })
  const engine = await base.engine(config.trainer.trainer_type)
  return closers.add(await engine.openScore({ path: base.dir }, nextCall(signal)))
}

const numbers = (values: Float32Array | undefined) =>
  Array.from(values ?? [], (one) => (Number.isFinite(one) ? one : null))
