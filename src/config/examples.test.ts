import { describe, expect, it } from 'vitest'
import { resolve, resolveAll } from '../../test/config-kit.js'

/** Configurations as people write them; every one must load as it is, with at most the remarks named. */
const MODEL =
  'model:\n  model_path: ${oc.env:TRINITY_MODEL_PATH,Qwen/Qwen2.5-1.5B-Instruct}\n  max_response_tokens: 1024\n  max_model_len: 2048\n'
const CLUSTER = 'cluster:\n  node_num: 1\n  gpu_per_node: 8\n'
const TASKS = `buffer:
  total_epochs: 1
  batch_size: 96
  explorer_input:
    taskset:
      name: gsm8k
      storage_type: file
      path: 'openai/gsm8k'
      subset_name: 'main'
      split: train
      format: {prompt_key: 'question', response_key: 'answer'}
      rollout_args: {temperature: 1.0, logprobs: 0}
    default_workflow_type: 'math_workflow'
`
const ROLLOUT =
  'explorer:\n  runner_per_model: 16\n  rollout_model: {engine_num: 2, tensor_parallel_size: 1, enable_prefix_caching: false, enforce_eager: true, dtype: bfloat16, seed: 42}\n'

describe('examples', () => {
  it('explorer and trainer in two processes', () => {
    const common = `project: async\nname: gsm8k\n${MODEL}${CLUSTER}`
    const explorer = resolve(
      `mode: explore\n${common}algorithm: {algorithm_type: grpo, repeat_times: 8}\n${TASKS}  trainer_input: {experience_buffer: {name: b, storage_type: queue, path: 'sqlite:///b.db'}}\n${ROLLOUT}synchronizer: {sync_method: checkpoint, sync_interval: 10}`,
    )
    const trainer = resolve(
      `mode: train\n${common}algorithm: {algorithm_type: grpo, repeat_times: 8, optimizer: {lr: 1e-6}}\nbuffer: {total_epochs: 1, train_batch_size: 768, trainer_input: {experience_buffer: {name: b, storage_type: queue, path: 'sqlite:///b.db'}}}\nsynchronizer: {sync_method: checkpoint, sync_interval: 10}`,
    )
    expect(explorer.buffer.train_batch_size).toBe(trainer.buffer.train_batch_size)
    expect(explorer.checkpoint_job_dir).toBe(trainer.checkpoint_job_dir)
    expect(explorer.cluster.rollout_gpu_num).toBe(2)
    expect(trainer.cluster.trainer_gpu_num).toBe(8)
  })

  it('curriculum with a difficulty selector', () => {
    const text = `data_processor: {experience_pipeline: {operators: [{name: pass_rate_calculator}]}}\nalgorithm: {algorithm_type: grpo, repeat_times: 16}\nmodel: {model_path: m, max_prompt_tokens: 4096, max_response_tokens: 8192}\n${CLUSTER}buffer: {batch_size: 32, explorer_input: {default_workflow_type: bots.workflow.BOTSMathBoxedWorkflow, taskset: {path: d, task_selector: {selector_type: difficulty_based, feature_keys: [weak_pass_rate, strong_pass_rate], kwargs: {m: 16, lamb: 0.1, rho: 0.1, target_reward: 0.5, tau: 0, do_sample: true}}}}}\nexplorer: {rollout_model: {engine_num: 4}}\nsynchronizer: {sync_interval: 8}\ntrainer: {trainer_type: verl, max_token_len_per_gpu: 24576}`
    expect(resolve(text).buffer.explorer_input.tasksets[0].data_selector.kwargs).toMatchObject({
      tau: 0,
      adaptive_rho: false,
    })
  })

  it('DAPO with overlong penalty and trainer-driven updates', () => {
    const text = `algorithm:\n  algorithm_type: dapo\n  policy_loss_fn_args: {clip_range_low: 0.2, clip_range_high: 0.28}\n${MODEL}${CLUSTER}${TASKS}    eval_tasksets:\n      - {name: AIME2024, path: x, split: test, repeat_times: 32, rollout_args: {temperature: 1.0, top_p: 0.7}, format: {system_prompt: "a: b"}}\ndata_processor: {experience_pipeline: {operators: [{name: dapo_dynamic_sampling, args: {metric_key: accuracy}}, {name: mask_response_truncated}]}}\nsynchronizer: {sync_method: nccl, sync_style: dynamic_by_trainer, sync_interval: 16}`
    const config = resolve(text)
    expect(config.algorithm).toMatchObject({
      repeat_times: 16,
      kl_loss_fn: 'none',
      policy_loss_fn_args: { clip_range_high: 0.28 },
    })
    expect(config.buffer.explorer_input.eval_tasksets[0].rollout_args).toMatchObject({
      n: 32,
      top_p: 0.7,
      max_tokens: 1024,
    })
  })

  it('DPO and SFT on files', () => {
    const dpo = `mode: train\nalgorithm: {algorithm_type: dpo, optimizer: {lr: 5e-7, lr_warmup_steps_ratio: 0.03, min_lr_ratio: 0.1, warmup_style: cosine, betas: [0.9, 0.95]}, kl_loss_fn: k1, kl_loss_fn_args: {kl_coef: 0.1}}\n${MODEL}${CLUSTER}buffer: {total_epochs: 2, train_batch_size: 64, trainer_input: {experience_buffer: {name: d, storage_type: file, enable_progress_bar: True, path: p, format: {prompt_type: plaintext, prompt_key: prompt, chosen_key: chosen, rejected_key: rejected}}}}\ndata_processor: {task_pipeline: {num_process: 1, operators: [{name: human_preference_annotation_mapper, args: {api_url: u}}], inputs: [a.jsonl], target_fields: [prompt]}}\nservice: {data_juicer: {auto_start: true}}\nsynchronizer: {sync_method: checkpoint, sync_interval: 30}\ntrainer: {save_interval: 30, total_steps: 200, use_dynamic_bsz: false, ppo_max_token_len_per_gpu: 16384, trainer_config: {actor_rollout_ref: {actor: {ppo_micro_batch_size_per_gpu: 2}, ref: {log_prob_micro_batch_size_per_gpu: 2}}, trainer: {balance_batch: false}}}`
    expect(resolve(dpo)).toMatchObject({
      algorithm: { optimizer: { lr_scheduler_type: 'cosine' } },
      trainer: {
        balance_batch: false,
        max_token_len_per_gpu: 16384,
        trainer_config: { actor_rollout_ref: { actor: { ppo_micro_batch_size_per_gpu: 2 } } },
      },
    })
    const sft = `mode: train\nalgorithm: {algorithm_type: sft, optimizer: {lr: 1e-5}}\nmodel: {model_path: m, max_prompt_tokens: 512, max_response_tokens: 10240}\nbuffer: {batch_size: 32, trainer_input: {experience_buffer: {name: MoT, storage_type: file, path: p, subset_name: math, format: {prompt_type: MESSAGES, messages_key: messages}}}}\nsynchronizer: {sync_method: checkpoint, sync_interval: 10}\ntrainer: {trainer_type: verl, save_interval: 100}`
    expect(resolve(sft)).toMatchObject({ buffer: { train_batch_size: 32 }, model: { max_model_len: 10752 } })
  })

  it('mix_chord with expert data', () => {
    const text = `algorithm:\n  algorithm_type: mix_chord\n  repeat_times: 8\n  kl_loss_fn_args: {kl_coef: 0.0}\n  entropy_loss_fn: mix\n  sample_strategy_args: {expert_data_ratio: 0.20}\n  policy_loss_fn_args: {mu_warmup_steps: 200, mu_decay_steps: 400, mu_peak: 0.1, mu_valley: 0.1, enable_phi_function: false, clip_range: 0.2, sft_loss_agg_mode: "token-mean", use_dynamic_bsz: true, ppo_mini_batch_size: 320, ppo_micro_batch_size_per_gpu: 4, ngpus_trainer: 4, train_batch_size_expert: 64, train_batch_size_usual: 256}\n${MODEL}${CLUSTER}${TASKS.replace('batch_size: 96', 'batch_size: 32')}  trainer_input:\n    experience_buffer: {name: e, storage_type: queue}\n    auxiliary_buffers:\n      sft_dataset: {total_epochs: 25, name: s, storage_type: file, schema_type: sft, path: p, split: train, format: {prompt_type: messages, messages_key: messages}}\nexplorer: {rollout_model: {engine_num: 4}}`
    const { stages, remarks } = resolveAll(text)
    expect(stages[0].config.buffer).toMatchObject({
      train_batch_size: 320,
      trainer_input: { auxiliary_buffers: { sft_dataset: { total_epochs: 25 } } },
    })
    expect(remarks.filter((one) => one.severity === 'warning')).toEqual([])
  })

  it("PPO on Megatron, with references inside veRL's tree", () => {
    const mega =
      '{tensor_model_parallel_size: 2, pipeline_model_parallel_size: 1, param_offload: false, use_mbridge: false, dist_checkpointing_path: null, override_transformer_config: {recompute_granularity: full, recompute_num_layers: 1}}'
    const text = `algorithm: {algorithm_type: ppo, repeat_times: 5}\n${MODEL}${CLUSTER}${TASKS}${ROLLOUT}trainer:\n  save_interval: 100\n  trainer_config:\n    actor_rollout_ref:\n      model: {use_remove_padding: true}\n      actor:\n        strategy: megatron\n        megatron: ${mega}\n        use_dynamic_bsz: true\n        ppo_max_token_len_per_gpu: 16384\n        optim: {lr: 1e-6}\n        checkpoint: {load_contents: ['model', 'hf_model', 'optimizer', 'extra']}\n      ref:\n        megatron: ${mega}\n        log_prob_use_dynamic_bsz: \${trainer.trainer_config.actor_rollout_ref.actor.use_dynamic_bsz}\n    critic:\n      strategy: megatron\n      megatron: ${mega}\n      optim: {lr: 1e-5}\n      ppo_micro_batch_size_per_gpu: 8\n      forward_micro_batch_size_per_gpu: \${trainer.trainer_config.critic.ppo_micro_batch_size_per_gpu}\n      ppo_epochs: \${trainer.trainer_config.actor_rollout_ref.actor.ppo_epochs}\n      cliprange_value: 0.5\n    trainer: {max_actor_ckpt_to_keep: 5, max_critic_ckpt_to_keep: 5}\n`
    const { stages, remarks } = resolveAll(text)
    const { trainer } = stages[0].config
    expect(trainer).toMatchObject({
      trainer_strategy: 'megatron',
      max_checkpoints_to_keep: 5,
      megatron: { tensor_model_parallel_size: 2 },
      max_token_len_per_gpu: 16384,
    })
    expect(trainer.trainer_config.critic).toMatchObject({
      forward_micro_batch_size_per_gpu: 8,
      ppo_epochs: 1,
      optim: { lr: 1e-5 },
    })
    expect(remarks.filter((one) => one.severity === 'warning')).toEqual([])
  })

  it('Tinker, LoRA, and the R3L fork', () => {
    const tinker = resolve(
      `mode: both\nalgorithm: {algorithm_type: grpo, repeat_times: 8}\nmodel: {model_path: Qwen/Qwen3-4B, max_model_len: 2048, tinker: {enable: true, rank: 32, train_unembed: false, base_url: "\${oc.env:TINKER_BASE_URL,http://127.0.0.1:10610}"}}\ncluster: {node_num: 1, gpu_per_node: 0}\n${TASKS}explorer: {rollout_model: {engine_type: tinker, enable_history: true}}\nsynchronizer: {sync_method: memory, sync_style: fixed}\ntrainer: {trainer_type: tinker}`,
    )
    expect(tinker).toMatchObject({
      trainer: { trainer_type: 'tinker' },
      synchronizer: { sync_method: 'memory' },
      model: { tinker: { base_url: 'http://127.0.0.1:10610' } },
    })
    const lora = resolve(
      `algorithm: {algorithm_type: grpo, repeat_times: 8}\nmodel: {model_path: m, max_model_len: 2048, lora_configs: [{name: lora, lora_rank: 16, lora_alpha: 16}]}\n${CLUSTER}${TASKS}explorer: {rollout_model: {engine_num: 1, tensor_parallel_size: 4}}\nsynchronizer: {sync_method: checkpoint}`,
    )
    expect(lora.explorer.rollout_model.lora_kwargs.max_lora_rank).toBe(16)
    const r3l = resolve(
      `algorithm: {algorithm_type: opmd_reweight_adv, repeat_times: 8, optimizer: {lr: 1e-6}}\n${MODEL}${CLUSTER}${TASKS}  trainer_input: {experience_buffer: {name: b, storage_type: queue, path: 'sqlite:///b.db', replay_buffer: {enable: true, priority_fn: decay_limit_randomization}}}\ndata_processor: {experience_pipeline: {operators: [{name: "OPMD_filter"}]}}\nexplorer: {runner_per_model: 32, eval_interval: 20, rollout_model: {engine_num: 4, gpu_memory_utilization: 0.7}}\nsynchronizer: {sync_style: dynamic_by_explorer, sync_timeout: 12000}\ntrainer: {ulysses_sequence_parallel_size: 4, trainer_config: {trainer: {max_actor_ckpt_to_keep: 1, max_critic_ckpt_to_keep: 1}}}\nmonitor: {monitor_type: wandb}`,
    )
    expect(r3l).toMatchObject({
      trainer: { max_checkpoints_to_keep: 1, trainer_config: {} },
      cluster: { trainer_gpu_num: 4 },
    })
  })

  it('serve and bench of a hosted model', () => {
    expect(
      resolve(
        `mode: serve\n${MODEL}${CLUSTER}explorer: {api_port: 8010, rollout_model: {engine_type: vllm_async, engine_num: 4}, service_status_check_interval: 30}`,
      ).explorer.proxy_port,
    ).toBe(8010)
    const bench = `mode: bench\ncontinue_from_checkpoint: false\nmodel:\n  model_path: \${oc.env:NAME,qwen3-max}\n  max_model_len: \${oc.env:LEN,64000}\n  enable_thinking: \${oc.decode:\${oc.env:THINK,true}}\n  external_model: {enable: true, model_name: "\${model.model_path}"}\nbuffer: {batch_size: 16, explorer_input: {eval_tasksets: [{name: e, path: p, default_workflow_type: browse_workflow, workflow_args: {path: "\${oc.env:NO,null}"}}]}}\nexplorer: {concurrent_mode: asynchronous, runner_per_model: \${oc.env:R,32}, rollout_model: {engine_type: external}}`
    const config = resolve(bench.replace('runner_per_model: ${oc.env:R,32}', 'runner_per_model: "${oc.env:R,32}"'))
    expect(config).toMatchObject({
      model: { max_model_len: 64000, enable_thinking: true, external_model: { model_name: 'qwen3-max' } },
      explorer: { runner_per_model: 16 },
    })
    expect(config.buffer.explorer_input.eval_tasksets[0].workflow_args).toEqual({ path: null })
  })

  it('pipelines, judges and multi-step agents', () => {
    const text = `algorithm: {algorithm_type: multi_step_grpo, repeat_times: 16, advantage_fn_args: {std_threshold: 0.001}, sample_strategy: staleness_control, sample_strategy_args: {max_staleness: 20}}\n${MODEL}${CLUSTER}${TASKS.replace('batch_size: 96', 'batch_size: 16\n  train_batch_size: 7680')}explorer:\n  max_repeat_times_per_runner: 1\n  max_timeout: 3600\n  env_vars: {TMPDIR: "\${oc.env:TMPDIR,/tmp}"}\n  rollout_model: {enable_history: true, enable_openai_api: true, enable_auto_tool_choice: true, tool_call_parser: hermes, reasoning_parser: deepseek_r1, engine_num: 2}\n  auxiliary_models:\n    - {model_path: judge, engine_num: 1, tensor_parallel_size: 2, enable_thinking: false, max_prompt_tokens: 20480, max_response_tokens: 8192, max_model_len: 32000}\n  over_rollout: {ratio: 0.2, wait_after_min: 10}\n  dynamic_timeout: {enable: true, ratio: 3.0}\ndata_processor:\n  experience_pipeline:\n    operators:\n      - name: data_juicer\n        args: {config_path: dj.yaml}\n      - name: reward_shaping_mapper\n        args: {reward_shaping_configs: [{stats_key: 'llm_quality_score', op_type: ADD, weight: 1.0}]}\n    save_input: false\n  task_pipeline: {num_process: 32, operators: [{name: llm_difficulty_score_filter, args: {api_or_hf_model: qwen}}], inputs: [a], target_fields: [q], priority_weights: {difficulty: -0.7, diversity: 0.8, usage_frequency: -0.5, quality: 1}, top_k: -1}\nservice: {data_juicer: {server_url: 'http://127.0.0.1:5005', port: 5005}}\nsynchronizer: {sync_style: dynamic_by_explorer, sync_interval: 2}\nlog: {level: debug, group_by_node: yes}`
    const config = resolve(text)
    expect(config.cluster).toMatchObject({ rollout_gpu_num: 2, auxiliary_model_gpu_num: 2, trainer_gpu_num: 4 })
    expect(config.explorer.auxiliary_models[0]).toMatchObject({ max_model_len: 32000, max_prompt_tokens: 20480 })
    expect(config.data_processor.task_pipeline?.priority_weights).toEqual({
      difficulty: -0.7,
      diversity: 0.8,
      usage_frequency: -0.5,
      quality: 1,
    })
    expect(config.log).toMatchObject({ level: 'DEBUG', group_by_node: true })
  })
})
