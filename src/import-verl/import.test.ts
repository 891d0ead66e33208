import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { testData } from '../../test/support/test-data.js'
import { buildLoss } from '../algorithm/index.js'
import { TrinityError } from '../base/error.js'
import { evaluateLoss } from '../graph/index.js'
import { importVerlText } from './import.js'

const fixture = (name: string) => readFileSync(fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url)), 'utf8')
const launch = (...args: string[]) => `python3 -m verl.trainer.main_ppo ${args.join(' ')}`
const importScript = (text: string) => parse(importVerlText(text).yaml)
const importArgs = (...args: string[]) => importScript(launch('data.train_batch_size=256', ...args))
const documented = testData('documented')

describe('loops', () => {
  const imported = (before: string, words: string) =>
    importVerlText(`${before}\npython3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo ${words}`)

  it('that build lists of files are read to their end', () => {
    const before =
      'A=""; i=0\nwhile [ $i -lt 3 ]; do A="${A:+$A,}/d/a$i.parquet"; i=$((i+1)); done\nB=""\nfor ((j=0; j<2; j++)); do B="${B:+$B,}/d/b$j.parquet"; done'
    const { yaml, notes } = imported(before, 'data.train_files="[$A]" data.val_files="[$B]"')
    const { tasksets, eval_tasksets } = parse(yaml).buffer.explorer_input
    const paths = (sets: { path: string }[]) => sets.map(({ path }) => path)
    expect(paths(tasksets)).toEqual(['/d/a0.parquet', '/d/a1.parquet', '/d/a2.parquet'])
    expect(paths(eval_tasksets)).toEqual(['/d/b0.parquet', '/d/b1.parquet'])
    expect(notes.join('\n')).not.toContain('loop')
  })

  it('over what only a run would tell are named in the words of the script', () => {
    const { notes } = imported('for k in $(ls /d); do E="$E trainer.s$k=1"; done', '$E')
    expect(notes).toContain('line 1: what this loop runs over is not known before the script runs: $(ls /d)')
    expect(notes.join('\n')).toContain("'trainer.s$(ls /d)=1' is not a hydra override")
    expect(notes.join('\n')).not.toContain('verl.unknown')
  })
})

describe('importing a whole script', () => {
  it('gives the configuration that means the same', () => {
    expect(parse(importVerlText(fixture('reward-model.sh')).yaml)).toEqual(parse(fixture('reward-model.yaml')))
  })

  it('carries over dynamic sampling, overlong penalty, evaluation sampling and the checkpoint folder', () => {
    const result = importVerlText(fixture('dynamic-sampling.sh'), { name: 'dynamic-sampling.sh' })
    const config = parse(result.yaml)
    expect(config).toMatchObject({
      project: 'sampling',
      name: 'study-14b',
      checkpoint_root_dir: '${oc.env:HOME}/sets/ckpts',
      continue_from_checkpoint: false,
      algorithm: {
        algorithm_type: 'dapo',
        repeat_times: 16,
        advantage_fn: 'grpo',
        advantage_fn_args: { std_threshold: null, mask_truncated: false },
        kl_loss_fn: 'none',
        loss_agg_mode: 'token-mean',
        optimizer: { lr_warmup_steps: 10 },
        policy_loss_fn_args: { clip_range_low: 0.2, clip_range_high: 0.28, clip_ratio_c: 10 },
      },
      model: { model_path: '${oc.env:HOME}/sets/models/base-14b', max_prompt_tokens: 2048, max_response_tokens: 8192 },
      cluster: { node_num: 4, gpu_per_node: 8 },
      explorer: { rollout_model: { engine_num: 2, tensor_parallel_size: 4 }, eval_interval: 1000000 },
      synchronizer: { sync_interval: 8, sync_offset: 0 },
      trainer: { trainer_strategy: 'fsdp2', ulysses_sequence_parallel_size: 8, total_steps: 100, save_interval: 0 },
      buffer: { batch_size: 32, train_batch_size: 512, total_steps: 100 },
      monitor: { monitor_type: 'none' },
    })
    expect(config.data_processor.experience_pipeline.operators).toEqual([
      { name: 'dapo_dynamic_sampling', args: { metric_key: 'accuracy' } },
    ])
    const penalty = { enable_overlong_penalty: true, penalty_factor: 1, max_response_length: 8192, cache_length: 1024 }
    expect(config.buffer.explorer_input.tasksets).toEqual([
      {
        name: 'math-20k',
        storage_type: 'file',
        path: '${oc.env:HOME}/sets/math-20k.parquet',
        split: 'train',
        format: { prompt_key: 'prompt', response_key: 'reward_model.ground_truth' },
        data_selector: { selector_type: 'shuffle', seed: 7 },
        default_reward_fn_type: 'math_dapo_reward',
        reward_fn_args: penalty,
      },
    ])
    expect(config.buffer.explorer_input.eval_tasksets[0]).toMatchObject({
      name: 'olympiad-2024_eval',
      repeat_times: 32,
      rollout_args: { temperature: 0.6 },
    })
    expect(result.missing.map(({ key }) => key)).toEqual([
      'algorithm.filter_groups.max_num_gen_batches',
      'data.gen_batch_size',
    ])
    expect(result.notes.join('\n')).toContain('DATA, MODEL, FSDP2')
    expect(result.notes.join('\n')).toContain('a veRL step is 8 steps here')
  })

  it('writes what a DAPO script leaves at the defaults of veRL, which the name dapo changes', () => {
    const script = 'python3 -m recipe.dapo.main_dapo algorithm.adv_estimator=grpo data.train_batch_size=256'
    expect(importScript(script).algorithm).toMatchObject({
      algorithm_type: 'dapo',
      advantage_fn_args: { std_threshold: null, mask_truncated: false },
      policy_loss_fn_args: { clip_range: 0.2 },
    })
  })

  it('scales numbers of steps when asked to', () => {
    const config = parse(importVerlText(fixture('dynamic-sampling.sh'), { scaleSteps: true }).yaml)
    expect(config.buffer.total_steps).toBe(800)
    expect(config.trainer.total_steps).toBe(800)
    expect(config.algorithm.optimizer.lr_warmup_steps).toBe(80)
  })

  it('writes the veRL key on every line that has one, and lists what has none in the file', () => {
    const { yaml, missing } = importVerlText(fixture('reward-model.sh'))
    expect(yaml).toMatch(/lr: 2e-6 {2}# actor_rollout_ref\.actor\.optim\.lr$/m)
    expect(yaml).toMatch(/param_offload: true {2}# critic\.model\.fsdp_config\.param_offload$/m)
    expect(yaml).toMatch(/sync_offset: 0 {2}# .*examples use 1/)
    for (const { key, raw } of missing) expect(yaml).toContain(`#   ${key}=${raw}: `)
    expect(missing.map(({ key }) => key)).toEqual(['data.truncation', 'reward_model.micro_batch_size_per_gpu'])
  })
})

describe.skipIf(documented.absent)(`the documented pairs${documented.note}`, () => {
  it.each(['ppo', 'grpo'])('verl_%s.sh means what the example beside it means', (name) => {
    const read = (file: string) => readFileSync(join(documented.path, file), 'utf8')
    const expected = parse(read(`${name}_example.yaml`))
    // The importer is strict about parity: offset 0. One taskset of the example repeats the default temperature.
    expected.synchronizer.sync_offset = 0
    for (const taskset of expected.buffer.explorer_input.tasksets) {
      expect(taskset.rollout_args ?? { temperature: 1 }).toEqual({ temperature: 1 })
      delete taskset.rollout_args
    }
    // The example reads a column `answer`, which the files that veRL prepares do not have.
    const { tasksets, eval_tasksets } = expected.buffer.explorer_input
    for (const { format } of [...tasksets, ...eval_tasksets]) format.response_key = 'reward_model.ground_truth'
    expect(parse(importVerlText(read(`verl_${name}.sh`)).yaml)).toEqual(expected)
  })
})

describe('keys', () => {
  it.each([
    ['gae', 'ppo', 'ppo'],
    ['grpo', 'grpo', 'grpo'],
    ['reinforce_plus_plus', 'reinforceplusplus', 'reinforceplusplus'],
    ['rloo', 'rloo', 'rloo'],
    ['remax', 'rloo', 'rloo'],
    ['opo', 'grpo', 'opmd'],
    ['made_up', 'grpo', 'grpo'],
  ])('adv_estimator=%s is algorithm %s with advantage %s', (estimator, type, advantage) => {
    const result = importVerlText(launch(`algorithm.adv_estimator=${estimator}`))
    expect(parse(result.yaml).algorithm).toMatchObject({ algorithm_type: type, advantage_fn: advantage })
    const exact = ['gae', 'grpo', 'reinforce_plus_plus', 'rloo'].includes(estimator)
    expect(result.notes.some((note) => note.includes(`adv_estimator=${estimator}`))).toBe(!exact)
  })

  it('takes the default of veRL where it differs from that of Trinity', () => {
    const config = importArgs('algorithm.adv_estimator=grpo')
    expect(config.algorithm.kl_loss_fn).toBe('none')
    expect(config.buffer).toMatchObject({ total_epochs: 30, batch_size: 256, train_batch_size: 256 })
    expect(config.model).toMatchObject({ max_prompt_tokens: 512, max_response_tokens: 512 })
    expect(config.explorer.rollout_model.tensor_parallel_size).toBe(2)
  })

  it('translates KL names and switches', () => {
    const config = importArgs(
      'algorithm.adv_estimator=grpo algorithm.use_kl_in_reward=True algorithm.kl_penalty=abs algorithm.kl_ctrl.type=adaptive algorithm.kl_ctrl.horizon=100',
      'actor_rollout_ref.actor.use_kl_loss=true actor_rollout_ref.actor.kl_loss_type=mse actor_rollout_ref.actor.kl_loss_coef=0.01',
    )
    expect(config.algorithm).toMatchObject({
      kl_penalty_fn: 'abs',
      kl_penalty_fn_args: { kl_coef: 0.001, adaptive: true, horizon: 100, target_kl: 0.1 },
      kl_loss_fn: 'k2',
      kl_loss_fn_args: { kl_coef: 0.01 },
    })
  })

  it('GRPO without the standard deviation is the advantage opmd with the mean as baseline', () => {
    expect(importArgs('algorithm.adv_estimator=grpo algorithm.norm_adv_by_std_in_grpo=False').algorithm).toMatchObject({
      algorithm_type: 'grpo',
      advantage_fn: 'opmd',
      advantage_fn_args: { opmd_baseline: 'mean' },
    })
  })

  it('GSPO is an algorithm of its own with its own clip range', () => {
    expect(
      importArgs(
        'algorithm.adv_estimator=grpo actor_rollout_ref.actor.policy_loss.loss_mode=gspo actor_rollout_ref.actor.clip_ratio_low=0.0003 actor_rollout_ref.actor.clip_ratio_high=0.0004',
      ).algorithm,
    ).toMatchObject({
      algorithm_type: 'gspo',
      policy_loss_fn_args: { clip_range_low: 0.0003, clip_range_high: 0.0004 },
    })
  })

  it.each(['gspo', 'sapo'])('%s averages per sequence, whatever the aggregation of the other terms', (mode) => {
    expect(
      importArgs(
        `actor_rollout_ref.actor.policy_loss.loss_mode=${mode} actor_rollout_ref.actor.loss_agg_mode=token-mean`,
      ).algorithm,
    ).toMatchObject({
      loss_agg_mode: 'token-mean',
      policy_loss_fn_args: { loss_agg_mode: 'seq-mean-token-mean' },
    })
  })

  it.each([
    ['gpg', {}],
    ['geo_mean', { clip_range_low: 0.4, clip_range_high: 0.4 }],
    ['dppo_tv', { clip_range_low: 0.4, clip_range_high: 0.4, clip_ratio_c: 3 }],
    ['dppo_kl', { clip_range_low: 0.4, clip_range_high: 0.4, clip_ratio_c: 3 }],
  ])('%s is a loss of its own', (mode, args) => {
    const { algorithm } = importArgs(
      `actor_rollout_ref.actor.policy_loss.loss_mode=${mode} actor_rollout_ref.actor.clip_ratio=0.4`,
    )
    expect(algorithm.policy_loss_fn).toBe(mode)
    expect(algorithm.policy_loss_fn_args ?? {}).toEqual(args)
    const given = `actor_rollout_ref.actor.policy_loss.loss_mode=${mode} actor_rollout_ref.actor.clip_ratio_c=10`
    expect(importArgs(given).algorithm.policy_loss_fn_args?.clip_ratio_c).toBe(mode.startsWith('dppo') ? 10 : undefined)
  })

  it('LoRA, Megatron, schedule, SGLang and engine arguments', () => {
    const config = importArgs(
      'actor_rollout_ref.model.lora_rank=32 actor_rollout_ref.model.lora_alpha=64 actor_rollout_ref.model.target_modules=[q_proj,v_proj]',
      '--config-name=ppo_megatron_trainer.yaml actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2 actor_rollout_ref.actor.megatron.param_offload=True',
      'actor_rollout_ref.actor.optim.warmup_style=cosine actor_rollout_ref.actor.optim.lr=1e-5 actor_rollout_ref.actor.optim.min_lr=1e-6',
      'actor_rollout_ref.rollout.name=sglang_async +actor_rollout_ref.rollout.engine_kwargs.sglang.attention_backend=fa3',
      'actor_rollout_ref.rollout.max_model_len=4096 data.apply_chat_template_kwargs.enable_thinking=False',
    )
    expect(config.model).toMatchObject({
      lora_configs: [{ lora_rank: 32, lora_alpha: 64, target_modules: '.*\\.(q_proj|v_proj)' }],
      max_model_len: 4096,
      enable_thinking: false,
    })
    expect(config.trainer).toMatchObject({
      trainer_strategy: 'megatron',
      megatron: { pipeline_model_parallel_size: 2 },
      trainer_config: { actor_rollout_ref: { actor: { megatron: { param_offload: true } } } },
    })
    expect(config.algorithm.optimizer).toMatchObject({ lr_scheduler_type: 'cosine', lr: 1e-5, min_lr_ratio: 0.1 })
    expect(config.explorer.rollout_model).toMatchObject({
      engine_type: 'sglang',
      extra_engine_args: { attention_backend: 'fa3' },
    })
  })

  it('never loses a key without a word', () => {
    const keys = [
      'data.made_up',
      'actor_rollout_ref.rollout.made_up',
      'trainer.made_up',
      'made_up.key',
      'custom_reward_function.path',
      'hydra.run.dir',
    ]
    const { missing, yaml } = importVerlText(launch(...keys.map((key) => `+${key}=1`)))
    expect(missing.map(({ key }) => key).sort()).toEqual([...keys].sort())
    for (const key of keys) expect(yaml).toContain(`${key}=1`)
  })

  it('passes unknown actor keys on to the trainer, critic keys only where there is a critic', () => {
    const grpo = importArgs('algorithm.adv_estimator=grpo actor_rollout_ref.actor.brand_new=1 critic.optim.lr=1e-5')
    expect(grpo.trainer.trainer_config).toEqual({ actor_rollout_ref: { actor: { brand_new: 1 } } })
    const ppo = importArgs('critic.optim.lr=1e-5')
    expect(ppo.trainer.trainer_config).toEqual({ critic: { optim: { lr: 1e-5 } } })
  })

  it('keeps environment variables, with a number to fall back on where one is needed', () => {
    const result = importVerlText(
      launch(
        'trainer.nnodes=$WORLD trainer.n_gpus_per_node=8 actor_rollout_ref.model.path=$MODEL_DIR/x actor_rollout_ref.rollout.gpu_memory_utilization=$MEM',
      ),
    )
    const config = parse(result.yaml)
    expect(config.cluster.node_num).toBe('${oc.env:WORLD,1}')
    expect(config.model.model_path).toBe('${oc.env:MODEL_DIR}/x')
    expect(config.explorer.rollout_model.gpu_memory_utilization).toBe('${oc.env:MEM}')
    expect(result.notes.join('\n')).toContain('set in the environment before this file is used: MODEL_DIR, MEM')
  })

  it('an odd relation of batch and mini-batch is rounded and said', () => {
    const result = importVerlText(launch('data.train_batch_size=100 actor_rollout_ref.actor.ppo_mini_batch_size=32'))
    expect(parse(result.yaml).synchronizer.sync_interval).toBe(3)
    expect(result.notes.join('\n')).toContain('not a multiple')
    const small = importVerlText(launch('data.train_batch_size=16 actor_rollout_ref.actor.ppo_mini_batch_size=32'))
    expect(parse(small.yaml)).toMatchObject({ buffer: { batch_size: 16 }, synchronizer: { sync_interval: 1 } })
  })
})

describe('seq-mean-token-sum-norm', () => {
  const sizes = 'actor_rollout_ref.actor.ppo_mini_batch_size=2 data.train_batch_size=2 actor_rollout_ref.rollout.n=2'
  const scale = (more: string) => {
    const given = `${sizes} actor_rollout_ref.actor.loss_agg_mode=seq-mean-token-sum-norm data.max_response_length=8 ${more}`
    const { trainer, algorithm } = parse(importVerlText(launch(given)).yaml)
    expect(algorithm.loss_agg_mode).toBe('seq-mean-token-sum-norm')
    return trainer.trainer_config.actor_rollout_ref.actor.loss_scale_factor as number
  }

  it('divides by the sequences of an update as veRL does', () => {
    expect(scale('')).toBe(8 * 4)
    expect(scale('actor_rollout_ref.actor.loss_scale_factor=100')).toBe(100 * 4)
    // veRL 0.9.1: Σ of a row, mean over rows, divided by the width of the mask (here 8)
    const masks = [[1, 1, 1], [1], [1, 1], [1, 1, 1, 1]]
    const verl = masks.reduce((sum, mask) => sum + mask.length, 0) / masks.length / 8
    const config = { policy_loss_fn: 'sft', loss_agg_mode: 'seq-mean-token-sum-norm' as const }
    const loss = buildLoss(config, { scale: scale('') })
    const rows = masks.map((mask) => ({ mask: Uint8Array.from(mask), columns: {} }))
    const logprob = Float32Array.from({ length: 10 }, () => -1)
    expect(evaluateLoss(loss, rows, loss.norms(rows), { logprob }).loss).toBeCloseTo(verl, 6)
  })
})

describe('importing a YAML file', () => {
  const yaml = `
defaults: [ppo_trainer, _self_]
data:
  max_prompt_length: 100
  max_response_length: \${data.max_prompt_length}
  train_files: ~/sets/arith/train.parquet
  val_files: null
  train_batch_size: 64
actor_rollout_ref:
  actor:
    _target_: some.Class
    ppo_mini_batch_size: 16
    use_dynamic_bsz: \${oc.select:trainer.nothing,true}
    checkpoint: { save_contents: [model, hf_model], load_contents: "\${.save_contents}" }
  rollout: { n: 4, prompt_length: "\${data.max_prompt_length}" }
algorithm: { adv_estimator: grpo }
distillation: { enabled: false, n_gpus_per_node: 8 }
trainer: { logger: [console], default_local_dir: "ck/\${trainer.project_name}/\${trainer.experiment_name}", project_name: p, experiment_name: e }
`
  it.each([
    ['project_name: p', 'project_name: ../../p', { project: '.._.._p', name: 'e' }],
    ['experiment_name: e', 'experiment_name: qwen/7b', { project: 'p', name: 'qwen_7b' }],
    ['experiment_name: e', 'experiment_name: ".."', { project: 'p', name: 'gsm8k' }],
    ['experiment_name: e', `experiment_name: ${'x'.repeat(300)}`, { project: 'p', name: 'x'.repeat(60) }],
  ])('%s → %s: the name becomes one folder, and that is said', (from, to, expected) => {
    const { yaml: text, notes } = importVerlText(yaml.replace(from, to), { name: 'mine.yaml' })
    expect(parse(text)).toMatchObject(expected)
    expect(notes).toContainEqual(expect.stringContaining('cannot be the name of one folder'))
  })

  it('resolves interpolations, skips nulls and class names, and says what it did not read', () => {
    const result = importVerlText(yaml, { name: 'mine.yaml' })
    const config = parse(result.yaml)
    expect(config).toMatchObject({
      checkpoint_root_dir: 'ck',
      model: { max_prompt_tokens: 100, max_response_tokens: 100 },
      buffer: { batch_size: 16, train_batch_size: 64 },
      synchronizer: { sync_interval: 4 },
      trainer: {
        use_dynamic_bsz: true,
        save_hf_checkpoint: 'always',
        trainer_config: { actor_rollout_ref: { actor: { checkpoint: { save_contents: ['model', 'hf_model'] } } } },
      },
    })
    expect(config.buffer.explorer_input.eval_tasksets).toBeUndefined()
    expect(config.buffer.explorer_input.tasksets[0].path).toBe('${oc.env:HOME}/sets/arith')
    expect(result.missing).toEqual([])
    expect(result.covered.find(({ key }) => key === 'distillation.n_gpus_per_node')?.reason).toBe(
      'distillation is switched off',
    )
    expect(result.notes.join('\n')).toContain('defaults')
  })

  it('is recognized without its name, and refused when it is something else', () => {
    expect(parse(importVerlText(yaml).yaml).project).toBe('p')
    const code = (text: string, name?: string) => {
      try {
        importVerlText(text, { name })
        return 'none'
      } catch (error) {
        expect(error).toBeInstanceOf(TrinityError)
        return (error as TrinityError).code
      }
    }
    expect(code('project: x\nmodel: {model_path: y}\n', 'trinity.yaml')).toBe('verl/not-verl')
    expect(code('a: [', 'x.yaml')).toBe('verl/not-verl')
    expect(code('echo hello')).toBe('verl/no-launch')
    expect(code('')).toBe('verl/no-launch')
    expect(code(launch())).toBe('verl/no-settings')
    expect(code("python3 -m verl.trainer.main_ppo a.b='x")).toBe('verl/shell-syntax')
    expect(code('torchrun -m verl.trainer.fsdp_sft_trainer data.train_files=x')).toBe('verl/no-launch')
  })
})
