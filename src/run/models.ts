import { TrinityError } from '../base/error.js'
import type { LogDir } from '../base/log/logger.js'
import type { Config } from '../config/index.js'
import { nextCall } from '../engine/calls.js'
import type { Engine, SampleModel, ScoreModel, TrainModel, WeightLink } from '../engine/contract.js'
import { checkEngine, type OpenEngine } from '../engine/open.js'
import type { TorchOptions } from '../engine/torch/options.js'
import type { OpenAuxiliary } from '../explorer/index.js'
import { readModelConfig } from '../model/index.js'
import type { RunView } from '../monitor/view.js'
import { trainerNeeds } from '../trainer/index.js'
import { type ModelText, openModelText } from '../workflow/text.js'
import type { Closers } from './closers.js'
import { tooLarge } from './fit.js'
import { modelDir } from './model-dir.js'
import { criticRecomputes, loraSpec, policyRecomputes } from './specs.js'
import { torchNeeds } from './torch-memory.js'
import { engineOptions } from './torch-options.js'

export interface ModelContext {
  readonly config: Config
  /** Directory that the policy starts from; null: `model.model_path`. */
  readonly startFrom: string | null
  readonly openEngine: OpenEngine
  /** The user asked for the native engine by name: sizes are then the user's business. */
  readonly nativeNamed: boolean
  readonly view: RunView
  readonly signal: AbortSignal
  readonly closers: Closers
  /** Where workers of engines write what they say. */
  readonly logs?: LogDir
}

export interface BaseModel {
  readonly engine: Engine
  readonly dir: string
  readonly text: ModelText
}

/** The engine of the policy, and the directory and the text side of its model. `mode`: what decides which models follow. */
export async function openBase(context: ModelContext, type: string, mode = context.config.mode): Promise<BaseModel> {
  const { config, view, signal, closers, logs } = context
  view.phase('model', 'looking at the model')
  const dir = context.startFrom ?? (await modelDir(config.model.model_path, view, signal))
  const memory = type === 'torch' ? await memoryNeeds({ ...context, config: { ...config, mode } }, dir) : undefined
  const engine = closers.add(await context.openEngine(type, engineOptions(type, config, logs, memory)))
  return { engine, dir, text: await openModelText(dir, config.model.custom_chat_template) }
}

/** What the workers have to find free; undefined for models that the plan cannot read, though Transformers may. */
async function memoryNeeds({ config, view, signal }: ModelContext, dir: string): Promise<TorchOptions['memory']> {
  const dirOf = async (path: string) => (path === config.model.model_path ? dir : modelDir(path, view, signal))
  try {
    return await torchNeeds(config, async (path) => (await readModelConfig(await dirOf(path))).config)
  } catch (error) {
    if (!(error instanceof TrinityError && error.code.startsWith('model/'))) throw error
    view.note(`the GPU's memory is not planned: ${error.message}`)
    return undefined
  }
}

export interface TrainedModels {
  readonly policy: TrainModel
  readonly reference?: ScoreModel
  readonly critic?: TrainModel
}

/** Everything that the trainer works with. */
export async function openTrained(context: ModelContext, { engine, dir }: BaseModel): Promise<TrainedModels> {
  const { config, view, signal, closers } = context
  if (engine.name === 'native') await checkSize(context, dir)
  const needs = trainerNeeds(config)
  const common = { seed: config.explorer.rollout_model.seed, maxModelLen: config.model.max_model_len ?? undefined }
  view.phase('model', 'opening the policy')
  const lora = loraSpec(config)
  const gradientCheckpointing = policyRecomputes(config, engine.name)
  const policy = closers.add(
    await engine.openTrain({ ...common, path: dir, lora, gradientCheckpointing }, nextCall(signal)),
  )
  let reference: ScoreModel | undefined
  if (needs.reference && !needs.referenceIsBase) {
    view.phase('model', 'opening the reference')
    reference = closers.add(await engine.openScore({ ...common, path: dir }, nextCall(signal)))
  }
  let critic: TrainModel | undefined
  if (needs.critic) {
    view.phase('model', 'opening the critic')
    const from = config.model.critic_model_path
    const path = from === config.model.model_path ? dir : await modelDir(from, view, signal)
    const gradientCheckpointing = criticRecomputes(config, engine.name)
    critic = closers.add(
      await engine.openTrain({ ...common, path, head: 'value', gradientCheckpointing }, nextCall(signal)),
    )
  }
  return { policy, reference, critic }
}

/** The samplers of the rollouts; with a policy in this process they begin with its weights. */
export async function openSamplers(
  context: ModelContext,
  { engine, dir }: BaseModel,
  policy?: TrainModel,
): Promise<SampleModel[]> {
  const { config, view, signal, closers } = context
  const { rollout_model: rollout } = config.explorer
  view.phase('model', 'opening the samplers')
  const spec = {
    path: dir,
    shareWith: policy,
    seed: rollout.seed,
    maxModelLen: rollout.max_model_len ?? undefined,
    prefixCaching: rollout.enable_prefix_caching,
  }
  const count = Math.max(1, rollout.engine_num)
  const own = engine.name === 'mock' || engine.caps.weights.includes('nccl') ? count : 1
  if (own < count) {
    view.note(`explorer.rollout_model.engine_num ${count}: here one sampler serves all of them`)
  }
  const samplers: SampleModel[] = []
  for (let i = 0; i < own; i++) samplers.push(closers.add(await engine.openSample(spec, nextCall(signal))))
  return Array.from({ length: count }, (_, i) => samplers[i % own])
}

/** Judges, teachers and reward models. */
export async function openAuxiliary(context: ModelContext, base: BaseModel): Promise<OpenAuxiliary[]> {
  const { config, view, signal, closers } = context
  const opened: OpenAuxiliary[] = []
  const engines = new Map<string, Engine>([[base.engine.name, base.engine]])
  for (const [i, one] of config.explorer.auxiliary_models.entries()) {
    view.phase('model', `opening auxiliary model ${one.name ?? i}`)
    const engine =
      engines.get(one.engine_type) ??
      closers.add(await context.openEngine(one.engine_type, engineOptions(one.engine_type, config, context.logs)))
    engines.set(one.engine_type, engine)
    const dir = await modelDir(one.model_path ?? '', view, signal)
    const text = await openModelText(dir, one.chat_template)
    const spec = { path: dir, seed: one.seed, maxModelLen: one.max_model_len ?? undefined }
    if ((await readModelConfig(dir)).config.head === 'lm') {
      const sampler = closers.add(
        await engine.openSample({ ...spec, prefixCaching: one.enable_prefix_caching }, nextCall(signal)),
      )
      opened.push({ config: one, text, samplers: [sampler] })
    } else {
      opened.push({ config: one, text, reward: closers.add(await engine.openReward(spec, nextCall(signal))) })
    }
  }
  return opened
}

export function linkOf(engine: Engine, policy: TrainModel, samplers: readonly SampleModel[]): WeightLink {
  return engine.link(policy, [...new Set(samplers)])
}

/** Explorer and trainer of one process hand weights over inside one engine. */
export function sameEngine({ explorer, trainer }: Config): string {
  const [rollout, train] = [explorer.rollout_model.engine_type, trainer.trainer_type]
  checkEngine(rollout)
  checkEngine(train)
  // the mock engine does both and has no name of its own among the trainers
  if (rollout === train || rollout === 'mock') return rollout
  throw new TrinityError('config/engine', `rollouts on ${rollout} and training on ${train} cannot share weights here`, {
    path: 'explorer.rollout_model.engine_type',
    hint: 'set explorer.rollout_model.engine_type and trainer.trainer_type to the same engine, or leave both at auto',
  })
}

async function checkSize({ config, nativeNamed, view }: ModelContext, dir: string): Promise<void> {
  const wrong = tooLarge((await readModelConfig(dir)).config, config)
  if (!wrong) return
  if (!nativeNamed) throw wrong
  view.note(`${wrong.message}; it is tried because the native engine was asked for by name`)
}
