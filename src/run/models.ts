import { TrinityError } from '../base/error.js'
import type { LogDir } from '../base/log/logger.js'
import { type Config, trainsIn } from '../config/index.js'
import { nextCall } from '../engine/calls.js'
import type { Engine, SampleModel, ScoreModel, TrainModel } from '../engine/contract.js'
import type { EngineContext } from '../engine/description.js'
import { onRay } from '../engine/on-ray.js'
import { engineNamed, type OpenEngine } from '../engine/registry.js'
import { loraSpec, recomputes } from '../engine/spec.js'
import type { WorldPlace } from '../environment/index.js'
import type { OpenAuxiliary } from '../explorer/index.js'
import { Roster } from '../machine/ground/roster.js'
import type { RayGround } from '../machine/ray/ground.js'
import { templateSource } from '../model/chat-template.js'
import { readModelConfig } from '../model/index.js'
import type { RunView } from '../monitor/view.js'
import { trainerNeeds } from '../trainer/index.js'
import { type ModelText, openModelText } from '../workflow/text.js'
import type { Closers } from './closers.js'
import { hostedSpec, isHosted, isHostedModel } from './hosted.js'
import { opened, overlong } from './longest.js'
import { modelDir } from './model-dir.js'
import { withRope } from './rope.js'

export interface ModelContext {
  readonly config: Config
  /** Directory that the policy starts from; null: `model.model_path`. */
  readonly startFrom: string | null
  readonly openEngine: OpenEngine
  /** The user asked for the trainer's engine by name: sizes are then the user's business. */
  readonly engineNamed: boolean
  readonly view: RunView
  readonly signal: AbortSignal
  readonly closers: Closers
  /** Where workers of engines write what they say. */
  readonly logs?: LogDir
}

/** Directory and text side of the policy, and the engines of the run, each opened once. */
export interface BaseModel {
  readonly dir: string
  readonly text: ModelText
  engine(name: string): Promise<Engine>
  /** Where processes of environments run. */
  place(): Promise<WorldPlace | undefined>
}

export async function openBase(context: ModelContext): Promise<BaseModel> {
  const { config, view, signal, closers, logs } = context
  view.phase('model', 'looking at the model')
  const opened = new Map<string, Promise<Engine>>()
  const { save_dir: logDir } = config.log
  const roster = logs && logDir !== null ? closers.add(new Roster(logDir, processName(config))) : undefined
  const note = (text: string) => view.note(text)
  let ground: Promise<RayGround | undefined> | undefined
  const engine = (name: string) => {
    const known = opened.get(name) ?? open(name)
    opened.set(name, known)
    return known
  }
  const hosted = isHosted(config)
  const dir = hosted
    ? textDirOf(await engine(config.explorer.rollout_model.engine_type))
    : await withRope(
        context.startFrom ?? (await modelDir(config.model.model_path, view, signal)),
        config.model,
        closers,
      )
  if (!hosted) await checkLength(config, dir)
  const begun = hosted ? undefined : begin()
  // an engine that is opened meanwhile has to be among what is closed, whatever happens
  const custom = hosted ? null : config.model.custom_chat_template
  const text = await openModelText(dir, custom, note).finally(() => begun)
  return { dir, text, engine, place }

  /** Starts what will be needed, while the tokenizer is read. */
  async function begin(): Promise<void> {
    const what = trainsIn(config.mode) ? 'train' : 'sample'
    const name = what === 'train' ? config.trainer.trainer_type : config.explorer.rollout_model.engine_type
    try {
      ;(await engine(name)).begin?.(what)
    } catch {
      // it is told where a model is opened
    }
  }

  function cluster(): Promise<RayGround | undefined> {
    ground ??= onRay(config, { logs, note }).then((found) => found && closers.add(found))
    return ground
  }

  async function place(): Promise<WorldPlace | undefined> {
    const found = await cluster()
    const env = Object.entries(config.explorer.env_vars).map(([name, value]) => [name, String(value)])
    return found && { ground: found, roster, env: Object.fromEntries(env) }
  }

  async function open(name: string): Promise<Engine> {
    const needs: EngineContext = {
      logs,
      roster,
      ground: cluster,
      get needs() {
        return trainerNeeds(config)
      },
      readModel: async (path) => {
        const own = path === config.model.model_path ? dir : await modelDir(path, view, signal)
        return (await readModelConfig(own)).config
      },
      note,
    }
    return closers.add(await context.openEngine(name, config, needs))
  }
}

/** Of a process that is one of several in its run. */
function processName({ mode, explorer, trainer }: Config): string | undefined {
  if (mode === 'both' || mode === 'colocate') return undefined
  return mode === 'train' ? trainer.name : explorer.name
}

function textDirOf({ name, textDir }: Engine): string {
  if (textDir !== undefined) return textDir
  throw new TrinityError('engine/text', `the engine '${name}' hosts models and brings no textDir`, { path: name })
}

export interface TrainedModels {
  readonly policy: TrainModel
  readonly reference?: ScoreModel
  readonly critic?: TrainModel
}

/** Everything that the trainer works with. */
export async function openTrained(context: ModelContext, { engine: engineOf, dir }: BaseModel): Promise<TrainedModels> {
  const { config, view, signal, closers } = context
  const type = engineNamed(config.trainer.trainer_type)
  await checkSize(context, dir)
  const engine = await engineOf(type.name)
  const needs = trainerNeeds(config)
  const recompute = (part: 'actor_rollout_ref' | 'critic') => recomputes(config, part, type.recomputes ?? false)
  const common = {
    seed: config.explorer.rollout_model.seed,
    maxModelLen: config.model.max_model_len ?? undefined,
    saveDtype: config.trainer.save_dtype,
  }
  view.phase('model', 'opening the policy')
  const lora = loraSpec(config)
  const template = config.model.custom_chat_template
  const chatTemplate = template === null ? undefined : (await templateSource(template)).source
  const gradientCheckpointing = recompute('actor_rollout_ref')
  const policy = closers.add(
    await engine.openTrain({ ...common, path: dir, lora, gradientCheckpointing, chatTemplate }, nextCall(signal)),
  )
  for (const note of policy.info.notes ?? []) view.note(note)
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
    const gradientCheckpointing = recompute('critic')
    critic = closers.add(
      await engine.openTrain({ ...common, path, head: 'value', gradientCheckpointing }, nextCall(signal)),
    )
  }
  return { policy, reference, critic }
}

/** The samplers of the rollouts; with a policy of the same engine they begin with its weights. */
export async function openSamplers(
  context: ModelContext,
  { engine: engineOf, dir }: BaseModel,
  policy?: TrainModel,
): Promise<SampleModel[]> {
  const { config, view, signal, closers } = context
  const { rollout_model: rollout } = config.explorer
  const engine = await engineOf(rollout.engine_type)
  const same = rollout.engine_type === config.trainer.trainer_type
  view.phase('model', 'opening the samplers')
  const hosted = isHosted(config) ? hostedSpec(rollout, 'rollout') : undefined
  const spec = {
    path: hosted ? (rollout.model_path ?? '') : dir,
    hosted,
    shareWith: same ? policy : undefined,
    seed: rollout.seed,
    maxModelLen: rollout.max_model_len ?? undefined,
    prefixCaching: rollout.enable_prefix_caching,
  }
  const count = Math.max(1, rollout.engine_num)
  const own = samplersOf(engine, count)
  if (own < count) {
    view.note(`explorer.rollout_model.engine_num ${count}: one sampler serves all of them here`)
  }
  const samplers: SampleModel[] = []
  for (let i = 0; i < own; i++) samplers.push(closers.add(await engine.openSample(spec, nextCall(signal))))
  // Where there is a policy, it has said them.
  if (!same || !policy) for (const note of samplers[0].info.notes ?? []) view.note(note)
  return Array.from({ length: Math.max(count, own) }, (_, i) => samplers[i % own])
}

function samplersOf(engine: Engine, engines: number, auxiliary?: number): number {
  return engine.samplers?.(auxiliary) ?? (engine.caps.replicas ? engines : 1)
}

/** Judges, teachers and reward models. */
export async function openAuxiliary(context: ModelContext, base: BaseModel): Promise<OpenAuxiliary[]> {
  const { config, view, signal, closers } = context
  const opened: OpenAuxiliary[] = []
  for (const [i, one] of config.explorer.auxiliary_models.entries()) {
    view.phase('model', `opening auxiliary model ${one.name ?? i}`)
    const engine = await base.engine(one.engine_type)
    if (isHostedModel(one)) {
      const text = await openModelText(textDirOf(engine))
      const spec = { path: one.model_path ?? '', hosted: hostedSpec(one, i) }
      const sampler = await engine.openSample(spec, nextCall(signal))
      opened.push({ config: one, text, samplers: [closers.add(sampler)] })
      continue
    }
    const dir = await modelDir(one.model_path ?? '', view, signal)
    const text = await openModelText(dir, one.chat_template, (line) => view.note(line))
    const spec = { path: dir, seed: one.seed, maxModelLen: one.max_model_len ?? undefined, auxiliary: i }
    if ((await readModelConfig(dir)).config.head === 'lm') {
      const sampling = { ...spec, prefixCaching: one.enable_prefix_caching }
      const samplers: SampleModel[] = []
      for (let n = samplersOf(engine, Math.max(1, one.engine_num), i); n > 0; n--) {
        samplers.push(closers.add(await engine.openSample(sampling, nextCall(signal))))
      }
      opened.push({ config: one, text, samplers })
    } else {
      opened.push({ config: one, text, reward: closers.add(await engine.openReward(spec, nextCall(signal))) })
    }
  }
  return opened
}

/** Of a model that had to be downloaded first, nobody knew how long its sequences may be. */
async function checkLength(config: Config, dir: string): Promise<void> {
  for (const one of opened(config).filter(({ path }) => path === config.model.model_path)) {
    const wrong = overlong(one, (await readModelConfig(dir)).config)
    if (wrong) throw wrong
  }
}

async function checkSize({ config, engineNamed: named, view }: ModelContext, dir: string): Promise<void> {
  const { name, refuses } = engineNamed(config.trainer.trainer_type)
  if (!refuses) return
  const wrong = refuses((await readModelConfig(dir)).config, config, trainerNeeds(config))
  if (!wrong) return
  if (!named) throw wrong
  view.note(`${wrong.message}; it is tried because the configuration names the ${name} engine`)
}
