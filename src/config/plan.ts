import { join } from 'node:path'
import type { EngineLookup } from './catalog.js'
import { gpuWords, planGpus } from './gpu-plan.js'
import { trainsIn } from './mode.js'
import type { Facts } from './resolve/facts.js'
import type { ResolvedStage } from './resolve/index.js'
import { localRows } from './rows.js'
import type { Config, TasksetConfig } from './section/config.js'

/** What a stage will do, in plain words: label and text. */
export type PlanLine = readonly [label: string, text: string]

const MODES: Record<Config['mode'], string> = {
  both: 'explorer and trainer together',
  explore: 'explorer alone; another process trains',
  train: 'trainer alone',
  bench: 'evaluation only',
  serve: 'a server that records the calls of agents',
  colocate: 'explorer and trainer on one GPU',
}

/** What a plan is told besides the configuration. */
export interface PlanOptions {
  /** What the engine says about the GPUs' memory. */
  readonly memory?: readonly PlanLine[]
  /** What earlier runs left is deleted first. */
  readonly isFresh?: boolean
}

export function planOf(
  stage: ResolvedStage,
  facts: Facts,
  engines: Pick<EngineLookup, 'find'>,
  { memory = [], isFresh = false }: PlanOptions = {},
): PlanLine[] {
  const { config } = stage
  const explores = config.mode !== 'train'
  const trains = trainsIn(config.mode)
  return [
    ['mode', `${config.mode}: ${MODES[config.mode]}`],
    ['model', modelText(stage, engines)],
    ...(config.mode === 'bench' || config.mode === 'serve' ? [] : algorithmLines(config)),
    ...(explores && config.mode !== 'serve' ? tasksLines(config, facts) : []),
    ...(trains ? [['reads', bufferText(config)] as const] : []),
    ...(config.mode === 'serve' ? [['serves', servesText(config)] as const] : []),
    ['step', stepText(config, facts)],
    ['engines', enginesText(config, explores, trains, facts, engines)],
    ...(takesGpus(config, engines) ? [['GPUs', gpuText(config)] as const] : []),
    ...memory,
    ...(explores && trains ? [['weights', weightsText(config)] as const] : []),
    ...evalLine(config, explores),
    ['files', filesText(config, explores, trains)],
    [
      'resume',
      isFresh ? 'no: --fresh deletes what earlier runs left, and starts at step 0' : resumeText(config, facts),
    ],
  ]
}

function modelText({ config, startsFrom }: ResolvedStage, engines: Pick<EngineLookup, 'find'>): string {
  const { model, mode } = config
  const { engine_type, model_path } = config.explorer.rollout_model
  if (mode !== 'train' && engines.find(engine_type)?.hosted) return `${model_path} (hosted)`
  const name = model.model_path
  const lora = model.lora_configs?.[0] ? `, LoRA rank ${model.lora_configs[0].lora_rank}` : ''
  const from = startsFrom ? `the last checkpoint in ${startsFrom}, otherwise ${name}` : name
  return `${from}${lora}; ${model.max_model_len} tokens (prompt ${model.max_prompt_tokens}, response ${model.max_response_tokens})`
}

function algorithmLines({ algorithm }: Config): PlanLine[] {
  const parts = [
    algorithm.advantage_fn && `advantage ${algorithm.advantage_fn}`,
    `loss ${algorithm.policy_loss_fn}${argText(algorithm.policy_loss_fn_args)}`,
    algorithm.kl_penalty_fn !== 'none' &&
      `KL in the reward ${algorithm.kl_penalty_fn}${argText(algorithm.kl_penalty_fn_args)}`,
    algorithm.kl_loss_fn !== 'none' && `KL in the loss ${algorithm.kl_loss_fn} × ${algorithm.kl_loss_fn_args?.kl_coef}`,
    Number(algorithm.entropy_loss_fn_args?.entropy_coef ?? 0) !== 0 &&
      `entropy ${algorithm.entropy_loss_fn} × ${algorithm.entropy_loss_fn_args?.entropy_coef}`,
    `sampling ${algorithm.sample_strategy}`,
    `learning rate ${short(algorithm.optimizer.lr)} ${algorithm.optimizer.lr_scheduler_type}`,
  ]
  return [['algorithm', `${algorithm.algorithm_type}: ${parts.filter(Boolean).join(', ')}`]]
}

/** 1e-5 rather than 0.00001. */
function short(value: number): string {
  return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential() : String(value)
}

function argText(args: Record<string, unknown> | null): string {
  const set = Object.entries(args ?? {}).filter(([, value]) => value !== null && value !== false)
  return set.length === 0
    ? ''
    : ` (${set.map(([key, value]) => `${key} ${typeof value === 'number' ? short(value) : value}`).join(', ')})`
}

function tasksLines(config: Config, facts: Facts): PlanLine[] {
  const { tasksets, eval_tasksets: evals } = config.buffer.explorer_input
  const text = (set: TasksetConfig) => {
    const rows = localRows(set, facts.cwd)
    const where = `${set.path}${set.subset_name ? `/${set.subset_name}` : ''} [${set.split}]`
    return `${set.name}: ${where}${rows === undefined ? '' : `, ${rows} rows`}, ${set.default_workflow_type ?? 'no workflow'}`
  }
  return [
    ...tasksets.map((set): PlanLine => ['tasks', text(set)]),
    ...evals.map((set): PlanLine => ['evaluates', `${text(set)}, ${set.repeat_times} ×`]),
  ]
}

function bufferText({ buffer }: Config): string {
  const main = buffer.trainer_input.experience_buffer
  const more = Object.entries(buffer.trainer_input.auxiliary_buffers).map(
    ([name, one]) => `, ${name} ${one.path} (${one.schema_type})`,
  )
  return `${main?.storage_type} ${main?.name}, ${main?.path} (${main?.schema_type})${more.join('')}`
}

function servesText({ explorer }: Config): string {
  const { listen_address: address, proxy_port: port, proxy_tls_cert: cert, db_url: calls } = explorer
  return `${cert ? 'HTTPS' : 'HTTP'} at ${address}, port ${port}; calls are kept in ${calls}`
}

function stepText(config: Config, facts: Facts): string {
  const { buffer, algorithm } = config
  if (config.mode === 'serve') return 'what has feedback, at every POST /commit'
  const parts: string[] = []
  if (config.mode !== 'train') parts.push(`${buffer.batch_size} tasks × ${algorithm.repeat_times} rollouts explored`)
  if (config.mode !== 'explore' && config.mode !== 'bench') parts.push(`${buffer.train_batch_size} experiences trained`)
  const all = tasksIn(config, facts)
  const epoch = config.mode !== 'train' && all ? `, ${epochText(all, buffer.batch_size)}` : ''
  const limit = config.mode === 'train' ? (config.trainer.total_steps ?? buffer.total_steps) : buffer.total_steps
  const end = limit ? `${limit} steps` : `${buffer.total_epochs} epoch${buffer.total_epochs === 1 ? '' : 's'}`
  const budget = config.mode !== 'train' && buffer.total_tokens ? `, or ${buffer.total_tokens} sampled tokens` : ''
  return `${parts.join(', ')}${epoch}; ${end}${budget}`
}

function epochText(tasks: number, batch: number): string {
  return tasks < batch ? `${tasks} tasks an epoch` : `${Math.floor(tasks / batch)} steps an epoch`
}

/** Rows of all task sets, where they lie in files that can be counted. */
function tasksIn({ buffer }: Config, facts: Facts): number | undefined {
  const rows = buffer.explorer_input.tasksets.map((set) => localRows(set, facts.cwd))
  return rows.reduce<number | undefined>((sum, n) => (sum === undefined || n === undefined ? undefined : sum + n), 0)
}

/** What a real run would stop at: all epochs together do not fill one batch. */
export function tooFewTasks(config: Config, facts: Facts): { message: string; hint: string } | undefined {
  const { batch_size, total_steps, total_epochs } = config.buffer
  const tasks = ['train', 'bench', 'serve'].includes(config.mode) ? undefined : tasksIn(config, facts)
  if (!tasks || total_steps || tasks * (total_epochs ?? 1) >= batch_size) return undefined
  return {
    message: `${tasks} tasks do not fill one batch of ${batch_size}: a run would stop immediately`,
    hint: `set buffer.batch_size to ${tasks} or less, or buffer.total_steps`,
  }
}

function enginesText(
  config: Config,
  explores: boolean,
  trains: boolean,
  facts: Facts,
  engines: Pick<EngineLookup, 'find'>,
): string {
  const { rollout_model: model, auxiliary_models: more } = config.explorer
  const parts: string[] = []
  if (explores) parts.push(`rollout ${model.engine_type} × ${model.engine_num}`)
  for (const [i, one] of explores ? more.entries() : [])
    parts.push(`${one.name ?? `auxiliary ${i}`} ${one.model_path} on ${one.engine_type} × ${one.engine_num}`)
  if (trains) parts.push(`trainer ${config.trainer.trainer_type}`)
  const why = [config.trainer.trainer_type, model.engine_type].map((name) => engines.find(name)?.why?.(facts, config))
  return parts.join(', ') + (why.some(Boolean) ? ` (${why.find(Boolean)})` : '')
}

/** A file may ask for GPUs that the engines which serve it do not use. */
function takesGpus({ cluster, mode, trainer, explorer }: Config, engines: Pick<EngineLookup, 'find'>): boolean {
  const names = [
    ...(trainsIn(mode) ? [trainer.trainer_type] : []),
    ...(mode === 'train' ? [] : [explorer.rollout_model, ...explorer.auxiliary_models].map((one) => one.engine_type)),
  ]
  return cluster.total_gpu_num > 0 && names.some((name) => engines.find(name)?.gpus === 'takes')
}

function gpuText(config: Config): string {
  const { cluster } = config
  const plan = planGpus(config)
  return (
    `${cluster.node_num} × ${cluster.gpu_per_node} = ${cluster.total_gpu_num}: rollout ${cluster.rollout_gpu_num}, ` +
    `auxiliary models ${cluster.auxiliary_model_gpu_num}, trainer ${cluster.trainer_gpu_num}` +
    (plan ? ` (${gpuWords(plan, cluster.node_num)})` : '')
  )
}

function weightsText({ synchronizer: sync }: Config): string {
  const offset = sync.sync_offset > 0 ? `, ${sync.sync_offset} ahead` : ''
  return `by ${sync.sync_method}, ${sync.sync_style}, every ${steps(sync.explorer_sync_interval ?? 1)}${offset}`
}

function steps(count: number): string {
  return count === 1 ? 'step' : `${count} steps`
}

function evalLine(config: Config, explores: boolean): PlanLine[] {
  const { eval_interval: interval, eval_on_startup: startup } = config.explorer
  const evaluates = explores && config.mode !== 'bench' && config.mode !== 'serve'
  if (!evaluates || config.buffer.explorer_input.eval_tasksets.length === 0) return []
  const every = interval > 0 ? `every ${steps(interval)}` : 'never'
  return [['evaluation', `${every}${startup ? ', and before the first' : ''}`]]
}

function filesText(config: Config, explores: boolean, trains: boolean): string {
  const parts = [
    trains &&
      (config.trainer.save_interval > 0
        ? `checkpoints every ${steps(config.trainer.save_interval)}`
        : 'a checkpoint at the end'),
    explores && config.data_processor.experience_pipeline.save_input && 'buffer/',
    'log/',
    `monitor/ (${config.monitor.monitor_type})`,
  ]
  return `${config.checkpoint_job_dir}: ${parts.filter(Boolean).join(', ')}`
}

function resumeText(config: Config, facts: Facts): string {
  const file = join(config.checkpoint_job_dir, 'latest_checkpointed_iteration.txt')
  const step = facts.readText(file)?.trim()
  return step ? `from global_step_${step}` : 'nothing there yet: starts at step 0'
}
