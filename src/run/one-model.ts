import { deriveSeed } from '../base/random/derive-seed.js'
import { machineFacts, readText, resolveConfig } from '../config/index.js'
import { openEngine } from '../engine/registry.js'
import { limitsOf, samplingOf } from '../explorer/contexts.js'
import { type ModelConfig, readModelConfig } from '../model/index.js'
import type { RunView } from '../monitor/view.js'
import { RolloutModel } from '../workflow/index.js'
import { loadCatalog } from './catalog.js'
import { type Closers, withClosers } from './closers.js'
import { debugConfig, openModels } from './debug/models.js'
import { modelDir } from './model-dir.js'

export interface OneModelOptions {
  /** A directory, or an id on a hub. */
  readonly model: string
  readonly temperature: number
  /** Of a reply. */
  readonly maxTokens: number
  readonly seed: number
  /** What its answers call it; default the directory. */
  readonly name?: string
  /** Looks at what the model is before it is loaded, and throws where that will not do. */
  readonly check?: (config: ModelConfig) => void
}

export interface OneModelContext {
  readonly note: (text: string) => void
  readonly signal: AbortSignal
  readonly closers: Closers
}

/** A conversation of its own, with random numbers of its own. */
export type NewConversation = (...seeds: readonly (string | number)[]) => RolloutModel

/** Tokens of a conversation: some models could read books, for which no memory is set aside here. */
const LONGEST = 16_384

/** Models outside of any run, which are closed when the work is done. */
export function withModels<T>(
  context: Omit<OneModelContext, 'closers'>,
  work: (open: (options: OneModelOptions) => Promise<NewConversation>, closers: Closers) => Promise<T>,
): Promise<T> {
  return withClosers((closers) => work((options) => openOneModel(options, { ...context, closers }), closers))
}

/** Opens a model for sampling, outside of any run. */
export async function openOneModel(options: OneModelOptions, context: OneModelContext): Promise<NewConversation> {
  const { note, signal, closers } = context
  const { model, temperature, maxTokens, seed } = options
  const view: RunView = { phase: (_, what) => note(what), metrics() {}, note, end() {}, close() {} }
  const dir = await modelDir(model, view, signal)
  const { config: found } = await readModelConfig(dir)
  options.check?.(found)
  const length = Math.min(found.maxPositions, LONGEST)
  const given = {
    mode: 'bench',
    model: { model_path: dir, max_model_len: length, max_response_tokens: Math.min(maxTokens, length >> 1) },
    explorer: { rollout_model: { seed, temperature } },
  }
  const parsed = readText(JSON.stringify(given), 'trinity')
  const { stages } = resolveConfig(parsed, machineFacts(), await loadCatalog([parsed]))
  const config = debugConfig(stages[0].config)
  const { model: samplers, text } = await openModels({ config, openEngine, view, signal, closers })
  const { rollout_model: rollout, max_timeout } = config.explorer
  return (...seeds) =>
    new RolloutModel({
      name: options.name ?? model,
      sampler: samplers[0],
      text,
      // prompt and reply share the context as they need it: there is no batch to plan for
      limits: { ...limitsOf(rollout), maxPromptTokens: null, maxResponseTokens: maxTokens },
      defaults: samplingOf(rollout),
      seedOf: (call) => deriveSeed(seed, ...seeds, call),
      signal,
      deadlineMs: max_timeout * 1000,
    })
}
