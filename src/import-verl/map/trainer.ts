import type { Mapping } from './mapping.js'

const ACTOR = 'actor_rollout_ref.actor'
const ROLLOUT = 'actor_rollout_ref.rollout'
const MONITORS = ['wandb', 'tensorboard', 'mlflow']

/** Back end, schedule, engine arguments and monitor: the values that need a translation rather than a copy. */
export function mapTrainer(mapping: Mapping): void {
  mapSchedule(mapping)
  mapStrategy(mapping)
  mapEngineArguments(mapping)
  mapMonitor(mapping)
}

function mapSchedule(mapping: Mapping): void {
  const { draft } = mapping
  const schedule = ['lr_scheduler_type', 'warmup_style', 'lr_decay_style'].map((name) => `${ACTOR}.optim.${name}`)
  const key = schedule.find((name) => mapping.has(name))
  if (key !== undefined) draft.set('algorithm.optimizer.lr_scheduler_type', mapping.word(key)!, key)
  for (const other of schedule) if (other !== key) mapping.cover(other, 'lr_scheduler_type is set')
  const optimizer = mapping.word(`${ACTOR}.optim.optimizer`)?.toLowerCase()
  if (optimizer !== undefined && ['adam', 'adamw', 'sgd'].includes(optimizer)) {
    if (optimizer === 'adamw')
      mapping.cover(`${ACTOR}.optim.optimizer`, 'adam with decoupled weight decay is the default')
    else draft.set('algorithm.optimizer.optimizer_type', optimizer, `${ACTOR}.optim.optimizer`)
  } else if (optimizer !== undefined) mapping.none(`${ACTOR}.optim.optimizer`, 'optimizer_type is adam, adamw or sgd')
  const least = `${ACTOR}.optim.min_lr`
  if (mapping.has(least)) {
    const rate = mapping.settings.get(`${ACTOR}.optim.lr`)?.value ?? 1e-6
    const minimum = mapping.number(least, 0).value
    if (typeof rate === 'number' && rate > 0)
      draft.set('algorithm.optimizer.min_lr_ratio', Number((minimum / rate).toPrecision(12)), `${least} / lr`)
    else mapping.none(least, 'min_lr_ratio needs a known lr')
  }
}

/** Megatron keys mean little without the strategy, which veRL sets by the name of the configuration file. */
function mapStrategy(mapping: Mapping): void {
  const { draft } = mapping
  const key = `${ACTOR}.strategy`
  const given = mapping.word(key)
  if (given !== undefined && ['fsdp', 'fsdp2', 'megatron'].includes(given))
    draft.set('trainer.trainer_strategy', given, key)
  else if (given !== undefined) mapping.none(key, 'trainer_strategy is fsdp, fsdp2 or megatron')
  else if (mapping.word('model_engine') === 'megatron')
    draft.set('trainer.trainer_strategy', 'megatron', 'model_engine')
  else if (/megatron/.test(mapping.source.configName ?? ''))
    draft.set('trainer.trainer_strategy', 'megatron', `--config-name ${mapping.source.configName}`)
  else if (mapping.below(`${ACTOR}.megatron`).length > 0)
    draft.set('trainer.trainer_strategy', 'megatron', `${ACTOR}.megatron.*`)
  const contents =
    mapping.settings.get(`${ACTOR}.checkpoint.save_contents`)?.value ??
    mapping.settings.get(`${ACTOR}.checkpoint.contents`)?.value
  if (Array.isArray(contents) && contents.includes('hf_model'))
    draft.set('trainer.save_hf_checkpoint', 'always', `${ACTOR}.checkpoint.save_contents has hf_model`)
  const replay = mapping.word(`${ACTOR}.router_replay.mode`)
  if (replay !== undefined && /^R\d/.test(replay))
    draft.set('algorithm.enable_router_replay', true, `${ACTOR}.router_replay.mode=${replay}`)
}

/** Arguments that go to the engine itself. */
function mapEngineArguments(mapping: Mapping): void {
  const { draft } = mapping
  const sglang = draft.get('explorer.rollout_model.engine_type') === 'sglang'
  for (const name of ['max_num_batched_tokens', 'max_num_seqs', 'swap_space']) {
    const key = `${ROLLOUT}.${name}`
    if (!mapping.has(key)) continue
    if (sglang) mapping.none(key, 'an argument of vLLM; SGLang has others (extra_engine_args)')
    else if (mapping.source.complete) mapping.cover(key, 'the engine chooses')
    else draft.set(`explorer.rollout_model.extra_engine_args.${name}`, mapping.number(key, 0).written, key)
  }
  const own = `${ROLLOUT}.engine_kwargs.${sglang ? 'sglang' : 'vllm'}`
  for (const setting of mapping.below(`${ROLLOUT}.engine_kwargs`)) {
    const inside = setting.key.startsWith(`${own}.`)
    const empty = JSON.stringify(setting.value) === '{}'
    if (inside)
      draft.set(
        `explorer.rollout_model.extra_engine_args.${setting.key.slice(own.length + 1)}`,
        mapping.take(setting.key)!.value,
        setting.key,
      )
    else if (empty) mapping.cover(setting.key, 'nothing is set')
    else mapping.none(setting.key, 'an argument of an engine that is not used')
  }
  const experts = `${ROLLOUT}.expert_parallel_size`
  if (mapping.has(experts)) {
    if (mapping.number(experts, 1).value > 1) draft.set('explorer.rollout_model.enable_expert_parallel', true, experts)
    else mapping.cover(experts, 'expert parallelism is off')
  }
  const topK = mapping.has(`${ROLLOUT}.top_k`) ? mapping.number(`${ROLLOUT}.top_k`, -1) : undefined
  if (topK) draft.set('model.top_k', topK.value === 0 ? -1 : topK.written, `${ROLLOUT}.top_k`)
}

function mapMonitor(mapping: Mapping): void {
  const key = 'trainer.logger'
  const value = mapping.take(key)?.value ?? ['console', 'wandb']
  const names = (Array.isArray(value) ? value : [value]).map((name) => String(name).replace(/^vemlp_/, ''))
  const chosen = MONITORS.find((name) => names.includes(name))
  mapping.draft.set(
    'monitor.monitor_type',
    chosen ?? 'none',
    mapping.has(key) ? `${key} (the console is always on)` : `${key}: veRL's default`,
  )
  const others = names.filter((name) => name !== chosen && name !== 'console')
  if (others.length > 0)
    mapping.notes.push(`${key}: only one monitor besides the console; ${mapping.describe(others.join(', '))} left out`)
}
