import { describe, expect, it } from 'vitest'
import { errorsOf, parse } from '../../test/config-kit.js'
import { ALIASES } from './alias.js'

/** A place where each record stands. */
const PLACES: Record<string, string> = {
  Config: '',
  MonitorConfig: 'monitor',
  SynchronizerConfig: 'synchronizer',
  ExplorerConfig: 'explorer',
  ModelConfig: 'model',
  TinkerConfig: 'model.tinker',
  InferenceModelConfig: 'explorer.rollout_model',
  TasksetConfig: 'buffer.explorer_input.taskset',
  ExplorerInput: 'buffer.explorer_input',
  BufferConfig: 'buffer',
  TrainerInput: 'buffer.trainer_input',
  ExperienceBufferConfig: 'buffer.trainer_input.experience_buffer',
  FormatConfig: 'buffer.explorer_input.taskset.format',
  AlgorithmConfig: 'algorithm',
  OptimizerConfig: 'algorithm.optimizer',
  TrainerConfig: 'trainer',
  DataProcessorConfig: 'data_processor',
  TaskPipelineConfig: 'data_processor.task_pipeline',
  ExperiencePipelineConfig: 'data_processor.experience_pipeline',
}
const ACTOR = 'trainer_config.actor_rollout_ref.actor'
const VALUES: Record<string, unknown> = {
  'data.dataset_path': 'd',
  'data.default_reward_fn_type': 'math_reward',
  'data.subset_name': 'main',
  'data.train_split': 'train',
  'data.format': { prompt_key: 'q' },
  checkpoint_path: 'ck',
  train_dataset: { name: 'b' },
  engine_type: 'mock',
  enable_prefix_caching: true,
  enforce_eager: false,
  dtype: 'float16',
  gpu_memory_utilization: 0.5,
  top_p: 0.5,
  project: 'p',
  name: 'n',
  [`${ACTOR}.optim.lr_scheduler_type`]: 'cosine',
  [`${ACTOR}.optim.warmup_style`]: 'cosine',
  [`${ACTOR}.optim.betas`]: [0.8, 0.9],
  [`${ACTOR}.optim.lr_warmup_steps_ratio`]: 0.5,
  [`${ACTOR}.megatron.sequence_parallel`]: false,
  'policy_loss_fn_args.use_token_level_loss_in_sft': true,
  input_buffers: [{ name: 'i', path: 'in.jsonl' }],
  reward_shaping: [{ stats_key: 'k', op_type: 'ADD' }],
  use_token_level_loss: false,
  'policy_loss_fn_args.use_token_level_loss': true,
  actor_use_kl_loss: false,
  add_strategy_args: { a: 1 },
  replay_buffer_kwargs: { decay: 3 },
  'trainer_config.algorithm.rollout_correction': { bypass_mode: false },
  output_buffer: { name: 'o' },
  'trainer_config.actor_rollout_ref.actor.strategy': 'fsdp',
  lr_decay_style: 'cosine',
  add_strategy: 'grpo',
  mm_data_kwargs: {},
  gamma: 0.9,
  lam: 0.8,
}
const RESULTS: Record<string, unknown> = {
  'policy_loss_fn_args.use_token_level_loss_in_sft': 'token-mean',
  input_buffers: ['in.jsonl'],
  reward_shaping: [
    { name: 'reward_shaping_mapper', args: { reward_shaping_configs: [{ stats_key: 'k', op_type: 'ADD' }] } },
  ],
  use_token_level_loss: 'seq-mean-token-mean',
  'policy_loss_fn_args.use_token_level_loss': 'token-mean',
  actor_use_kl_loss: 'none',
}
const TEXT =
  /_key$|workflow|_fn$|url|dj_config_path|prompt|prefix|priority_fn$|task_type|algorithm_type|strategy|optim\.optimizer|critic.*style/

const keyOf = (place: string, key: string) => (place === '' ? key : `${place}.${key}`)
const get = (value: unknown, path: string) =>
  path.split('.').reduce<unknown>((node, key) => (node as Record<string, unknown> | null)?.[key], value)
const put = (path: string, value: unknown): unknown =>
  path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)

describe('every older key', () => {
  it.each(ALIASES.map((alias) => [`${alias.in}.${alias.old}`, alias] as const))('%s', (_, alias) => {
    const value =
      alias.old in VALUES
        ? VALUES[alias.old]
        : TEXT.test(alias.old)
          ? 'word'
          : /enable|^use_|\.use_|balance|is_|raw|collect|wrap|latest/.test(alias.old)
            ? true
            : 7
    const place = PLACES[alias.in]
    let text = JSON.stringify(put(keyOf(place, alias.old), value))
    if (alias.each) {
      const file = put(keyOf(place, alias.old), value) as { buffer: Record<string, unknown> }
      const input = {
        ...(file.buffer.explorer_input as object),
        taskset: { path: 'x' },
        eval_tasksets: [{ path: 'y' }],
      }
      text = JSON.stringify({ buffer: { ...file.buffer, explorer_input: input } })
    }
    const { stages, problems } = parse(text)
    expect(problems.remarks.map((one) => one.key)).toContain(keyOf(place, alias.old))
    if (alias.gone) return
    const now = alias.now as string
    const target = alias.each
      ? `buffer.explorer_input.eval_tasksets.0.${now}`
      : now.startsWith('/')
        ? now.slice(1)
        : keyOf(place, now)
    const expected =
      alias.old in RESULTS
        ? RESULTS[alias.old]
        : alias.old === 'output_buffer'
          ? expect.objectContaining({ name: 'o' })
          : value !== null && typeof value === 'object' && !Array.isArray(value)
            ? expect.objectContaining(value)
            : value
    expect(get(stages[0].config, target)).toEqual(expected)
  })

  it('the new key wins, with a warning when they differ', () => {
    const { stages, problems } = parse(
      'explorer: {api_port: 1, proxy_port: 2}\ntrainer: {actor_grad_clip: 3, grad_clip: 3}',
    )
    expect(stages[0].config.explorer.proxy_port).toBe(2)
    expect(problems.remarks).toMatchObject([
      { severity: 'warning', key: 'explorer.api_port', message: 'ignored, explorer.proxy_port is set as well' },
    ])
  })

  it('works inside stages and auxiliary buffers', () => {
    const text =
      'buffer: {trainer_input: {auxiliary_buffers: {a: {path: x, use_priority_queue: true}}}}\nstages: [{stage_name: s, trainer: {actor_clip_ratio: 0.3}}]'
    const { config } = parse(text).stages[0]
    expect(config.buffer.trainer_input.auxiliary_buffers.a.replay_buffer?.enable).toBe(true)
    expect(config.algorithm.policy_loss_fn_args).toEqual({ clip_range: 0.3 })
  })

  it('an optimizer inside trainer_config is the more particular one', () => {
    const text =
      'algorithm: {optimizer: {lr: 1e-6}}\ntrainer: {trainer_config: {actor_rollout_ref: {actor: {optim: {lr: 1e-5}}}}}'
    const { stages, problems } = parse(text)
    expect(stages[0].config.algorithm.optimizer.lr).toBe(1e-5)
    expect(problems.remarks).toMatchObject([{ severity: 'warning', message: 'used instead of algorithm.optimizer.lr' }])
  })

  it('references may use the older names', () => {
    const tree =
      '{actor_rollout_ref: {actor: {use_dynamic_bsz: false, ppo_max_token_len_per_gpu: 9}, ref: {log_prob_use_dynamic_bsz: "${trainer.trainer_config.actor_rollout_ref.actor.use_dynamic_bsz}", log_prob_max_token_len_per_gpu: "${trainer.trainer_config.actor_rollout_ref.actor.ppo_max_token_len_per_gpu}"}}, critic: {ppo_epochs: "${trainer.trainer_config.actor_rollout_ref.actor.ppo_epochs}"}}'
    const { trainer } = parse(`trainer: {trainer_config: ${tree}}`).stages[0].config
    expect(trainer).toMatchObject({ use_dynamic_bsz: false, max_token_len_per_gpu: 9 })
    expect(trainer.trainer_config).toEqual({
      actor_rollout_ref: { ref: { log_prob_use_dynamic_bsz: false, log_prob_max_token_len_per_gpu: 9 } },
      critic: { ppo_epochs: 1 },
    })
  })

  it('words for values', () => {
    const { stages, problems } = parse(
      'synchronizer: {sync_style: dynamic_by_trainer, sync_method: online}\nexplorer: {rollout_model: {engine_num: 1}}\nbuffer: {explorer_input: {taskset: {path: d, storage_type: FILE}}}',
    )
    expect(stages[0].config.synchronizer).toMatchObject({ sync_style: 'trainer_driven', sync_method: 'nccl' })
    expect(stages[0].config.buffer.explorer_input.taskset?.storage_type).toBe('file')
    expect(problems.remarks.map((one) => one.code)).toEqual(['alias', 'alias'])
  })

  it('trainer_config without the actor_rollout_ref level', () => {
    const { config } = parse(
      'trainer: {trainer_config: {actor: {ppo_epochs: 2, grad_clip: 0.5}, critic: {cliprange_value: 0.2}}}',
    ).stages[0]
    expect(config.trainer.trainer_config).toEqual({
      actor_rollout_ref: { actor: { ppo_epochs: 2 } },
      critic: { cliprange_value: 0.2 },
    })
    expect(config.trainer.grad_clip).toBe(0.5)
  })
})

describe('trainer_config at two levels', () => {
  it('merges them and drops nothing without a word', () => {
    const { stages, problems } = parse(
      'trainer: {trainer_config: {model: {resume_mode: auto, enable_gradient_checkpointing: true}, actor_rollout_ref: {model: {enable_gradient_checkpointing: false}}}}',
    )
    expect(stages[0].config.trainer.trainer_config).toEqual({
      actor_rollout_ref: { model: { enable_gradient_checkpointing: false, resume_mode: 'auto' } },
    })
    expect(problems.remarks).toMatchObject([
      { severity: 'warning', key: 'trainer.trainer_config.actor_rollout_ref.model.resume_mode' },
    ])
  })
})

describe('files of version 0.1', () => {
  const text = `mode: both
data:
  dataset_path: /data/gsm8k
  subset_name: ''
  train_split: train
  eval_split: test
  format: {prompt_key: question, response_key: answer}
  total_epochs: 20
  batch_size: 96
  default_workflow_type: math_workflow
model: {model_path: m, max_prompt_tokens: 256, max_response_tokens: 1024, checkpoint_path: ck}
buffer: {max_retry_times: 3, train_dataset: {name: b, storage_type: queue, path: 'sqlite:///b.db'}}
explorer: {engine_type: vllm_async, engine_num: 2, runner_num: 32, dtype: bfloat16, temperature: 0.5, logprobs: 0, repeat_times: 8, use_ray: false, backend: nccl, max_pending_requests: 32}
synchronizer: {sync_method: checkpoint, sync_iteration_interval: 10}
trainer: {trainer_type: verl, algorithm_type: opmd, sft_warmup_steps: 0, eval_interval: 5}
monitor: {cache_root_dir: '', project: p, name: n}
`
  it('load as they are', () => {
    const { stages, problems } = parse(text)
    const { config } = stages[0]
    expect(problems.remarks.filter(({ severity }) => severity === 'warning')).toEqual([])
    expect(config).toMatchObject({
      project: 'p',
      name: 'n',
      checkpoint_root_dir: 'ck',
      algorithm: { algorithm_type: 'opmd', repeat_times: 8 },
      model: { temperature: 0.5, logprobs: 0 },
      buffer: {
        total_epochs: 20,
        batch_size: 96,
        trainer_input: { experience_buffer: { name: 'b', max_retry_times: 3 } },
      },
      explorer: { eval_interval: 5, rollout_model: { engine_type: 'vllm_async', engine_num: 2, dtype: 'bfloat16' } },
      synchronizer: { sync_interval: 10 },
    })
    const format = { prompt_key: 'question', response_key: 'answer' }
    const { taskset, eval_tasksets, default_workflow_type } = config.buffer.explorer_input
    expect(default_workflow_type).toBe('math_workflow')
    expect(taskset).toMatchObject({ path: '/data/gsm8k', split: 'train', format })
    expect(eval_tasksets).toMatchObject([{ name: 'eval', path: '/data/gsm8k', split: 'test', format }])
  })

  it('evaluate nothing without a split, and warm up in a stage', () => {
    const warm = text
      .replace('eval_split: test', "eval_split: ''")
      .replace('sft_warmup_steps: 0', 'sft_warmup_steps: 7')
      .replace('buffer: {', 'buffer: {sft_warmup_dataset: {name: w, path: sft.jsonl}, ')
    const { stages } = parse(warm)
    expect(stages.map(({ name }) => name)).toEqual(['sft_warmup', 'rft'])
    expect(stages[0].config.buffer.total_steps).toBe(7)
    expect(stages[1].config.buffer.explorer_input.eval_tasksets).toEqual([])
  })
})

describe('SFT warm-up of older files', () => {
  const base =
    'buffer: {batch_size: 4, trainer_input: {sft_warmup_steps: 10, sft_warmup_dataset: {name: w, path: sft.jsonl}}}\n'
  it('becomes a first stage', () => {
    const { stages } = parse(`${base}algorithm: {algorithm_type: grpo, repeat_times: 8}`)
    expect(stages.map((stage) => stage.name)).toEqual(['sft_warmup', 'rft'])
    expect(stages[0].config).toMatchObject({
      mode: 'train',
      algorithm: { algorithm_type: 'sft' },
      buffer: { total_steps: 10, train_batch_size: 32 },
    })
    expect(stages[0].config.buffer.trainer_input.experience_buffer).toMatchObject({ name: 'w', path: 'sft.jsonl' })
    expect(stages[1].config.algorithm.algorithm_type).toBe('grpo')
  })
  it('is the expert data of mix', () => {
    const { stages } = parse(`${base}algorithm: {algorithm_type: mix}`)
    expect(stages).toHaveLength(1)
    expect(stages[0].config.buffer.trainer_input.auxiliary_buffers.sft_dataset.path).toBe('sft.jsonl')
  })
  it('does not go with stages', () =>
    expect(errorsOf(() => parse(`${base}stages: [{stage_name: s}]`))[0].message).toMatch(/together with stages/))
})
