import type { Config } from '../../config/index.js'
import type { OpenEngine } from '../../engine/registry.js'
import type { ContextParts } from '../../explorer/contexts.js'
import type { OpenAuxiliary } from '../../explorer/index.js'
import type { RunView } from '../../monitor/view.js'
import { openModelText } from '../../workflow/text.js'
import type { Closers } from '../closers.js'
import { modelDir } from '../model-dir.js'
import { openAuxiliary, openBase, openSamplers } from '../models.js'
import { connectModels } from './remote.js'
import type { ModelToServe } from './server.js'

export interface DebugContext {
  readonly config: Config
  readonly openEngine: OpenEngine
  readonly view: RunView
  readonly signal: AbortSignal
  readonly closers: Closers
}

/** One engine for every model, and nothing that is only for training. */
export function debugConfig(config: Config): Config {
  const { explorer } = config
  return {
    ...config,
    explorer: {
      ...explorer,
      rollout_model: { ...explorer.rollout_model, engine_num: 1 },
      auxiliary_models: explorer.auxiliary_models.map((one) => ({ ...one, engine_num: 1 })),
    },
  }
}

/** What decides which models are open. */
export function fingerprint({ explorer, model }: Config): string {
  const of = ({ model_path, engine_type, max_model_len, seed }: Config['explorer']['rollout_model']) =>
    [model_path, engine_type, max_model_len, seed].join(' ')
  return [model.model_path, of(explorer.rollout_model), ...explorer.auxiliary_models.map(of)].join('\n')
}

/** Opens the models in this process. */
export async function openModels(context: DebugContext): Promise<ContextParts> {
  const config: Config = { ...context.config, mode: 'bench' }
  const whole = { ...context, config, startFrom: null, engineNamed: true }
  const base = await openBase(whole)
  const model = await openSamplers(whole, base)
  return { config: context.config, model, text: base.text, auxiliary: await openAuxiliary(whole, base) }
}

/** The models of the debug server of this configuration; undefined when none runs. */
export async function connectTo(
  socket: string,
  { config, view, signal }: DebugContext,
): Promise<ContextParts | undefined> {
  const connection = await connectModels(socket)
  if (!connection) return undefined
  if (connection.served.fingerprint !== fingerprint(config)) {
    view.note(`the debug server (process ${connection.served.pid}) serves other models: start it again to use it`)
    return undefined
  }
  view.note(`using the models of the debug server (process ${connection.served.pid})`)
  const textOf = async (path: string | null, template: string | null) =>
    openModelText(await modelDir(path ?? '', view, signal), template, (line) => view.note(line))
  const auxiliary: OpenAuxiliary[] = []
  for (const [i, one] of config.explorer.auxiliary_models.entries()) {
    const text = await textOf(one.model_path, one.chat_template)
    const sampled = connection.served.models[i + 1].kind === 'sample'
    const opened = sampled ? { samplers: [connection.sampler(i + 1)] } : { reward: connection.reward(i + 1) }
    auxiliary.push({ config: one, text, ...opened })
  }
  const text = await textOf(config.model.model_path, config.model.custom_chat_template)
  return { config, model: [connection.sampler(0)], text, auxiliary }
}

/** In the order in which `connectTo` expects them: the rollout model, then the auxiliary ones. */
export function toServe({ config, model, auxiliary = [] }: ContextParts): ModelToServe[] {
  return [
    { name: config.explorer.rollout_model.model_path ?? 'policy', role: 'rollout', sampler: model[0] },
    ...auxiliary.map((one, i) => ({
      name: one.config.name ?? `auxiliary_${i}`,
      role: 'auxiliary' as const,
      sampler: one.samplers?.[0],
      reward: one.reward,
    })),
  ]
}
