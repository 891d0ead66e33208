import type { Field, RecordSpec } from './field.js'
import { firstLayout } from './first-layout.js'
import { at, type MapNode, type Node, nodeOf, pathParts, plain, removeAt, withNode } from './node.js'
import type { Problems } from './problem.js'
import { config } from './section/config.js'
import { megatron } from './section/trainer.js'
import { warmupStages } from './warmup.js'

/** An older spelling of a key. Words for values (`online`, `dynamic_by_explorer`) stand with their keys in section/. */
interface Alias {
  /** Record the old key stands in, and its path there. */
  readonly in: string
  readonly old: string
  /** New path in the same record, or, with a leading slash, from the top. */
  readonly now?: string
  /** Tells what the old value means under the new key; undefined: nothing. */
  readonly value?: (old: unknown) => unknown
  /** The new key belongs to every task set (or storage) below. */
  readonly each?: readonly string[]
  /** No counterpart: why nothing is lost. */
  readonly gone?: string
  /** The old place is the more particular one: it wins over the new key. */
  readonly wins?: boolean
}

const TASKSETS = ['taskset', 'tasksets', 'eval_tasksets'] as const
const BUFFERS = ['trainer_input.experience_buffer', ...TASKSETS.map((key) => `explorer_input.${key}`)]
const SCALED = (old: unknown) => (old === true ? 'token-mean' : 'seq-mean-token-mean')
const KIND = 'known from its position'
const OLD_PIPELINE = [
  ...['dj_process_desc', 'agent_model_name', 'clean_strategy', 'min_size_ratio', 'min_priority_score'],
  ...['data_dist', 'dynamic', 'format', 'agent_model_config'],
]
const PATHS = (old: unknown) =>
  Array.isArray(old) ? old.map((one: unknown) => (one as { path?: unknown } | null)?.path ?? one) : [old]
const SHAPING = (old: unknown) => [{ name: 'reward_shaping_mapper', args: { reward_shaping_configs: old } }]

const TASKSET = 'buffer.explorer_input.taskset'
/** Empty text stood for "not set". */
const GIVEN = (old: unknown) => (old === '' ? undefined : old)

/** Version 0.1: one data set in `data`, the rollout engine in `explorer`, names in `monitor`. */
const FIRST: readonly Alias[] = [
  ...['total_epochs', 'batch_size'].flatMap((key) => [
    { in: 'Config', old: `data.${key}`, now: `buffer.${key}` },
    { in: 'Config', old: `global_config.${key}`, now: `buffer.${key}` },
  ]),
  { in: 'Config', old: 'global_config.eval_interval', now: 'explorer.eval_interval' },
  { in: 'Config', old: 'data.dataset_path', now: `${TASKSET}.path` },
  { in: 'Config', old: 'data.subset_name', now: `${TASKSET}.subset_name`, value: GIVEN },
  { in: 'Config', old: 'data.train_split', now: `${TASKSET}.split`, value: GIVEN },
  { in: 'Config', old: 'data.format', now: `${TASKSET}.format` },
  { in: 'Config', old: 'data.default_workflow_type', now: 'buffer.explorer_input.default_workflow_type' },
  { in: 'Config', old: 'data.default_reward_fn_type', now: 'buffer.explorer_input.default_reward_fn_type' },
  { in: 'ModelConfig', old: 'checkpoint_path', now: '/checkpoint_root_dir', value: GIVEN },
  { in: 'BufferConfig', old: 'train_dataset', now: 'trainer_input.experience_buffer' },
  ...[
    ...['engine_type', 'engine_num', 'tensor_parallel_size', 'enable_prefix_caching', 'enforce_eager', 'dtype', 'seed'],
    ...['gpu_memory_utilization', 'enable_chunked_prefill', 'enable_thinking'],
  ].map((key) => ({ in: 'ExplorerConfig', old: key, now: `rollout_model.${key}` })),
  ...['temperature', 'top_p', 'top_k', 'logprobs'].map((key) => ({
    in: 'ExplorerConfig',
    old: key,
    now: `/model.${key}`,
  })),
  { in: 'ExplorerConfig', old: 'repeat_times', now: '/algorithm.repeat_times' },
  ...['use_ray', 'backend', 'max_pending_requests', 'max_waiting_steps'].map((old) => ({
    in: 'ExplorerConfig',
    old,
    gone: 'the engine and the scheduler take care of it',
  })),
  { in: 'SynchronizerConfig', old: 'sync_iteration_interval', now: 'sync_interval' },
  { in: 'TrainerConfig', old: 'algorithm_type', now: '/algorithm.algorithm_type' },
  { in: 'TrainerConfig', old: 'eval_interval', now: '/explorer.eval_interval' },
  { in: 'MonitorConfig', old: 'project', now: '/project' },
  { in: 'MonitorConfig', old: 'name', now: '/name' },
  { in: 'MonitorConfig', old: 'cache_root_dir', gone: 'metrics go into the folder of the run' },
]

/** Every older key of the versions since 0.1, with what it is now. */
export const ALIASES: readonly Alias[] = [
  ...FIRST,
  { in: 'ExplorerConfig', old: 'api_port', now: 'proxy_port' },
  { in: 'ExplorerConfig', old: 'eval_on_latest_checkpoint', now: 'bench_on_latest_checkpoint' },
  { in: 'ExplorerConfig', old: 'collect_experiences', gone: 'experiences are always collected' },
  { in: 'InferenceModelConfig', old: 'enable_openai_client', now: 'enable_openai_api' },
  { in: 'TasksetConfig', old: 'default_workflow', now: 'default_workflow_type' },
  { in: 'TasksetConfig', old: 'default_reward_fn', now: 'default_reward_fn_type' },
  { in: 'TasksetConfig', old: 'default_eval_workflow_type', gone: 'use explorer_input.default_eval_workflow_type' },
  { in: 'ExplorerInput', old: 'default_workflow', now: 'default_workflow_type' },
  { in: 'ExplorerInput', old: 'system_prompt', now: 'format.system_prompt', each: TASKSETS },
  { in: 'ExplorerInput', old: 'reply_prefix', now: 'format.reply_prefix', each: TASKSETS },
  { in: 'BufferConfig', old: 'pad_token_id', gone: 'the tokenizer knows it' },
  { in: 'BufferConfig', old: 'read_batch_size', now: 'train_batch_size' },
  { in: 'BufferConfig', old: 'max_retry_times', now: 'max_retry_times', each: BUFFERS },
  { in: 'BufferConfig', old: 'max_retry_interval', now: 'max_retry_interval', each: BUFFERS },
  {
    in: 'TrainerInput',
    old: 'read_experience_strategy',
    gone: 'the order follows from storage_type and replay_buffer',
  },
  ...['TasksetConfig', 'ExperienceBufferConfig'].flatMap((record) => [
    { in: record, old: 'algorithm_type', gone: 'known from algorithm.algorithm_type' },
    { in: record, old: 'task_type', gone: KIND },
    { in: record, old: 'raw', gone: KIND },
    { in: record, old: 'wrap_in_ray', gone: 'processes share a buffer by its database' },
    { in: record, old: 'mm_data_kwargs', gone: 'use format.image_key and format.video_key' },
  ]),
  { in: 'ExperienceBufferConfig', old: 'use_priority_queue', now: 'replay_buffer.enable' },
  { in: 'ExperienceBufferConfig', old: 'reuse_cooldown_time', now: 'replay_buffer.reuse_cooldown_time' },
  { in: 'ExperienceBufferConfig', old: 'replay_buffer_kwargs.priority_fn', now: 'replay_buffer.priority_fn' },
  { in: 'ExperienceBufferConfig', old: 'replay_buffer_kwargs', now: 'replay_buffer.priority_fn_args' },
  { in: 'FormatConfig', old: 'solution_key', gone: 'use response_key' },
  { in: 'FormatConfig', old: 'label_key', gone: 'use response_key' },
  { in: 'FormatConfig', old: 'reward_key', gone: 'rewards come from the workflow' },
  { in: 'AlgorithmConfig', old: 'gamma', now: 'advantage_fn_args.gamma' },
  { in: 'AlgorithmConfig', old: 'lam', now: 'advantage_fn_args.lam' },
  { in: 'AlgorithmConfig', old: 'add_strategy', now: 'advantage_fn' },
  { in: 'AlgorithmConfig', old: 'add_strategy_args', now: 'advantage_fn_args' },
  { in: 'AlgorithmConfig', old: 'use_token_level_loss', now: 'loss_agg_mode', value: SCALED },
  {
    in: 'AlgorithmConfig',
    old: 'policy_loss_fn_args.use_token_level_loss',
    now: 'policy_loss_fn_args.loss_agg_mode',
    value: SCALED,
  },
  {
    in: 'AlgorithmConfig',
    old: 'policy_loss_fn_args.use_token_level_loss_in_sft',
    now: 'policy_loss_fn_args.sft_loss_agg_mode',
    value: SCALED,
  },
  { in: 'AlgorithmConfig', old: 'mu', now: 'policy_loss_fn_args.mu' },
  { in: 'BufferConfig', old: 'expert_data_ratio', now: '/algorithm.sample_strategy_args.expert_data_ratio' },
  { in: 'ModelConfig', old: 'max_token_len', now: 'max_model_len' },
  { in: 'TinkerConfig', old: 'server_loss_fn', gone: 'the loss is algorithm.policy_loss_fn' },
  { in: 'OptimizerConfig', old: 'lr_decay_style', now: 'lr_scheduler_type' },
  { in: 'OptimizerConfig', old: 'lr_decay_steps', gone: 'the schedule ends with trainer.total_steps' },
  { in: 'OptimizerConfig', old: 'lr_warmup_init', gone: 'the warm-up starts at 0' },
  { in: 'OptimizerConfig', old: 'min_lr', gone: 'use min_lr_ratio' },
  { in: 'TrainerConfig', old: 'ppo_max_token_len_per_gpu', now: 'max_token_len_per_gpu' },
  { in: 'TrainerConfig', old: 'actor_grad_clip', now: 'grad_clip' },
  { in: 'TrainerConfig', old: 'actor_clip_ratio', now: '/algorithm.policy_loss_fn_args.clip_range' },
  { in: 'TrainerConfig', old: 'actor_entropy_coef', now: '/algorithm.entropy_loss_fn_args.entropy_coef' },
  { in: 'TrainerConfig', old: 'actor_kl_loss_coef', now: '/algorithm.kl_loss_fn_args.kl_coef' },
  {
    in: 'TrainerConfig',
    old: 'actor_use_kl_loss',
    now: '/algorithm.kl_loss_fn',
    value: (old) => (old === false ? 'none' : undefined),
  },
  { in: 'DataProcessorConfig', old: 'data_processor_url', now: '/service.data_juicer.server_url' },
  { in: 'DataProcessorConfig', old: 'data_workflow_url', now: '/service.data_juicer.server_url' },
  ...['TaskPipelineConfig', 'ExperiencePipelineConfig'].flatMap((record) =>
    OLD_PIPELINE.map((old) => ({ in: record, old, gone: 'use operators' })),
  ),
  { in: 'TaskPipelineConfig', old: 'dj_config_path', now: 'config_path' },
  { in: 'TaskPipelineConfig', old: 'input_buffers', now: 'inputs', value: PATHS },
  { in: 'ExperiencePipelineConfig', old: 'input_buffers', gone: 'the explorer is the input' },
  { in: 'ExperiencePipelineConfig', old: 'dj_config_path', gone: 'use an operator data_juicer with config_path' },
  { in: 'ExperiencePipelineConfig', old: 'reward_shaping', now: 'operators', value: SHAPING },
  { in: 'TaskPipelineConfig', old: 'output_buffer', now: 'output' },
  { in: 'ExperiencePipelineConfig', old: 'output_buffer', now: 'output' },
  ...lifted('trainer.max_actor_ckpt_to_keep', 'max_checkpoints_to_keep'),
  ...lifted('trainer.max_critic_ckpt_to_keep', 'max_checkpoints_to_keep'),
  ...lifted('trainer.balance_batch', 'balance_batch'),
  ...lifted('trainer.critic_warmup', 'critic_warmup'),
  ...lifted('actor_rollout_ref.actor.strategy', 'trainer_strategy'),
  ...lifted('actor_rollout_ref.actor.grad_clip', 'grad_clip'),
  ...lifted('actor_rollout_ref.actor.use_dynamic_bsz', 'use_dynamic_bsz'),
  ...lifted('actor_rollout_ref.actor.ppo_max_token_len_per_gpu', 'max_token_len_per_gpu'),
  ...lifted('actor_rollout_ref.actor.ulysses_sequence_parallel_size', 'ulysses_sequence_parallel_size'),
  ...lifted('actor_rollout_ref.actor.use_remove_padding', 'use_remove_padding'),
  ...lifted('actor_rollout_ref.model.use_remove_padding', 'use_remove_padding'),
  ...lifted('algorithm.rollout_correction', '/algorithm.rollout_correction'),
  ...['lr', 'lr_warmup_steps', 'lr_warmup_steps_ratio', 'min_lr_ratio', 'warmup_style', 'lr_scheduler_type'].flatMap(
    (key) => lifted(`actor_rollout_ref.actor.optim.${key}`, `/algorithm.optimizer.${key}`, true),
  ),
  ...['betas', 'weight_decay', 'clip_grad'].flatMap((key) =>
    lifted(`actor_rollout_ref.actor.optim.${key}`, `/algorithm.optimizer.${key}`, true),
  ),
  ...lifted('actor_rollout_ref.actor.optim.optimizer', '/algorithm.optimizer.optimizer_type', true),
  ...lifted('critic.optim.warmup_style', 'trainer_config.critic.optim.lr_scheduler_type', true),
  ...Object.keys(megatron.fields).flatMap((key) =>
    lifted(`actor_rollout_ref.actor.megatron.${key}`, `megatron.${key}`, true),
  ),
]

/** A key of veRL's tree that has a place of its own in the configuration. */
function lifted(old: string, now: string, wins = false): Alias[] {
  return [{ in: 'TrainerConfig', old: `trainer_config.${old}`, now, wins }]
}

/** Rewrites older keys to the present ones and notes which were used. */
export function applyAliases(tree: MapNode, problems: Problems): MapNode {
  return renameRecord(config, warmupStages(firstLayout(tree, problems), problems), '', problems, [])
}

type Moved = { to: string; node: Node; from: string; wins: boolean }[]

function renameRecord(spec: RecordSpec, map: MapNode, path: string, problems: Problems, out: Moved): MapNode {
  const isRoot = spec.name === 'Config' || spec.name === 'StageConfig'
  const moved: Moved = isRoot ? [] : out
  let result = map
  for (const alias of ALIASES) if (alias.in === spec.name) result = apply(alias, result, path, problems, moved)
  const entries = new Map(result.entries)
  for (const [key, entry] of entries) {
    const field = Object.hasOwn(spec.fields, key) ? spec.fields[key] : undefined
    const below = path === '' ? key : `${path}.${key}`
    if (field) entries.set(key, { ...entry, node: renameIn(field, entry.node, below, problems, moved) })
  }
  result = { ...result, entries }
  if (isRoot) for (const move of moved) result = place(result, move, path, problems)
  return result
}

function renameIn(field: Field, node: Node, path: string, problems: Problems, moved: Moved): Node {
  if (field.kind === 'record' && node.kind === 'map') {
    return renameRecord(field.record as RecordSpec, node, path, problems, moved)
  }
  const item = field.item
  if (item && node.kind === 'list') {
    return { ...node, items: node.items.map((entry, i) => renameIn(item, entry, `${path}[${i}]`, problems, moved)) }
  }
  if (item && node.kind === 'map' && field.kind === 'map') {
    const entries = [...node.entries].map(([key, entry]) => {
      return [key, { ...entry, node: renameIn(item, entry.node, `${path}.${key}`, problems, moved) }] as const
    })
    return { ...node, entries: new Map(entries) }
  }
  return node
}

function apply(alias: Alias, map: MapNode, path: string, problems: Problems, moved: Moved): MapNode {
  const old = at(map, alias.old)
  if (!old) return map
  const from = path === '' ? alias.old : `${path}.${alias.old}`
  const rest = removeAt(map, pathParts(alias.old))
  // in veRL's tree, null leaves the choice to the rest of the configuration
  if (alias.wins !== undefined && old.kind === 'scalar' && old.type === 'null') return rest
  if (alias.gone !== undefined) {
    problems.note('no-effect', from, alias.gone, old.mark)
    return rest
  }
  const value = alias.value ? alias.value(plain(old)) : undefined
  if (alias.value && value === undefined) return rest
  const node = alias.value ? nodeOf(value, old.mark) : old
  const now = alias.now as string
  if (now.startsWith('/')) {
    moved.push({ to: now.slice(1), node, from, wins: alias.wins === true })
    return rest
  }
  if (!alias.each) return place(rest, { to: now, node, from, wins: alias.wins === true }, path, problems)
  let result = rest
  for (const target of alias.each) {
    const below = at(result, target)
    const many = below?.kind === 'list' ? below.items.map((_, i) => `${target}.${i}`) : below ? [target] : []
    for (const one of many) {
      if (at(result, `${one}.${now}`)) continue
      result = withNode(result, pathParts(`${one}.${now}`), node) as MapNode
    }
  }
  problems.note('alias', from, `is now ${now} of each of ${alias.each.join(', ')}`, old.mark)
  return result
}

/** Puts a value at its new place; a value that already stands there wins, unless the old place is more particular. */
function place(map: MapNode, { to, node, from, wins }: Moved[number], base: string, problems: Problems): MapNode {
  const full = base === '' ? to : `${base}.${to}`
  const there = at(map, to)
  const isSame = there !== undefined && JSON.stringify(plain(there)) === JSON.stringify(plain(node))
  if (isSame) return map
  if (there?.kind === 'map' && node.kind === 'map') {
    problems.note('alias', from, `is now ${full}`, node.mark)
    return withNode(map, pathParts(to), { ...there, entries: new Map([...node.entries, ...there.entries]) }) as MapNode
  }
  if (there === undefined) problems.note('alias', from, `is now ${full}`, node.mark)
  else problems.warn('alias', from, wins ? `used instead of ${full}` : `ignored, ${full} is set as well`, node.mark)
  return there === undefined || wins ? (withNode(map, pathParts(to), node) as MapNode) : map
}
