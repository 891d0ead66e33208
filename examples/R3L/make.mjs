// Makes the 50 configurations of the R3L study from the tables below: five worlds, five algorithms, two sizes of Qwen2.5.
// The values are those of the study's own files; only names of data differ, which `trinity data` makes.
//
//   node examples/R3L/make.mjs [output directory]
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { folderOf } from '../lib/place.mjs'

const out = process.argv[2] ?? folderOf(import.meta.url)

/** Rollouts on so many GPUs of 8, the others train. */
const SIZES = {
  '1.5B': { model: 'Qwen/Qwen2.5-1.5B-Instruct', engines: 6, sequenceParallel: 2 },
  '7B': { model: 'Qwen/Qwen2.5-7B-Instruct', engines: 4, sequenceParallel: 4 },
}

/** KL is named where the study overrides the algorithm's own. `repeat`: the study gives RAFT a single rollout. */
const ALGORITHMS = {
  grpo: { type: 'grpo', workflow: 'grpo_baseline', repeat: 8, kl: true, filter: true },
  opmd: { type: 'opmd', workflow: 'opmd_baseline', repeat: 8, filter: true },
  RAFT: { type: 'raft', workflow: 'raft_baseline', repeat: 1 },
  opmd_reweight_adv: { type: 'opmd_reweight_adv', workflow: 'opmd_baseline', repeat: 8, filter: true },
  opmd_R3L: { type: 'opmd_reweight_adv', workflow: 'R3L', repeat: 8, filter: true },
}

/** The one exception among the 50 files. */
const repeatOf = (world, algorithm, size) =>
  world === 'alfworld' && algorithm === 'RAFT' && size === '7B' ? 8 : ALGORITHMS[algorithm].repeat

/** Where the tasks are, as a configuration says it. */
const PATH = '$' + '{buffer.explorer_input.taskset.path}'

const WORLDS = {
  alfworld: { response: 512, tokens: 10240, evals: ['alfworld'] },
  webshop: {
    response: 512,
    tokens: 16384,
    evals: ['webshop'],
    args: { data: PATH },
  },
  scienceworld: {
    response: 512,
    tokens: 16384,
    evals: ['scienceworld'],
    args: { jar_path: `${PATH}/scienceworld.jar` },
  },
  dapo: {
    response: 4096,
    tokens: 16384,
    format: { prompt_key: 'question', response_key: 'answer' },
    evals: ['dapo', 'aime24', 'aime25', 'amc23', 'gsm8k', 'math500', 'minervamath', 'olympiadbench'],
  },
  countdown: { response: 4096, tokens: 16384, evals: ['countdown'] },
}

const env = (name, other) => `\${oc.env:${name},${other}}`

function evalSet(world, name) {
  const { format, args } = WORLDS[world]
  // The test sets of mathematics lie in one folder, each a split.
  const place =
    world === 'dapo' ? { path: env('TRINITY_EVAL_PATH', 'data/math_eval'), split: name } : { path: PATH, split: 'test' }
  return {
    name,
    storage_type: 'file',
    ...place,
    ...(format && { format }),
    rollout_args: { temperature: 0.4 },
    ...(args && { workflow_args: args }),
  }
}

function configuration(world, algorithm, size) {
  const { model, engines, sequenceParallel } = SIZES[size]
  const { type, workflow, kl, filter } = ALGORITHMS[algorithm]
  const { response, tokens, evals, format, args } = WORLDS[world]
  return {
    project: `R3L_${world}`,
    name: `${algorithm}_${size}`,
    checkpoint_root_dir: env('TRINITY_CHECKPOINT_ROOT_DIR', './checkpoints'),
    algorithm: {
      algorithm_type: type,
      repeat_times: repeatOf(world, algorithm, size),
      optimizer: { lr: 1e-6 },
      ...(kl && { kl_loss_fn: 'k3', kl_loss_fn_args: { kl_coef: 0.01 } }),
    },
    model: {
      model_path: env('TRINITY_MODEL_PATH', model),
      max_response_tokens: response,
      max_model_len: 20480,
    },
    cluster: { node_num: 1, gpu_per_node: 8 },
    buffer: {
      total_epochs: 20,
      batch_size: 96,
      explorer_input: {
        taskset: {
          name: world,
          storage_type: 'file',
          path: env('TRINITY_TASKSET_PATH', `data/${world}`),
          split: 'train',
          ...(format && { format }),
          rollout_args: { temperature: 1.0, logprobs: 0 },
          ...(args && { workflow_args: args }),
        },
        eval_tasksets: evals.map((name) => evalSet(world, name)),
        default_workflow_type: `${workflow}_${world}_workflow`,
      },
      trainer_input: {
        experience_buffer: {
          name: `${world}_buffer`,
          storage_type: 'queue',
          replay_buffer: { enable: true, priority_fn: 'decay_limit_randomization' },
        },
      },
    },
    explorer: {
      runner_per_model: 32,
      eval_interval: 20,
      rollout_model: {
        engine_num: engines,
        tensor_parallel_size: 1,
        enable_prefix_caching: false,
        enforce_eager: false,
        dtype: 'bfloat16',
        seed: 0,
        gpu_memory_utilization: 0.7,
        enable_chunked_prefill: true,
      },
    },
    ...(filter && { data_processor: { experience_pipeline: { operators: [{ name: 'OPMD_filter' }] } } }),
    synchronizer: { sync_style: 'dynamic_by_explorer', sync_method: 'nccl', sync_interval: 1, sync_timeout: 12000 },
    trainer: {
      save_interval: 30,
      grad_clip: 1.0,
      use_dynamic_bsz: true,
      max_token_len_per_gpu: tokens,
      ulysses_sequence_parallel_size: sequenceParallel,
    },
    monitor: { monitor_type: 'wandb' },
  }
}

const HEAD = `# The R3L study: docs/r3l.md. Made by examples/R3L/make.mjs; change it there.
`
for (const world of Object.keys(WORLDS)) {
  mkdirSync(join(out, world), { recursive: true })
  for (const algorithm of Object.keys(ALGORITHMS)) {
    for (const size of Object.keys(SIZES)) {
      const text = stringify(configuration(world, algorithm, size), { lineWidth: 0, aliasDuplicateObjects: false })
      writeFileSync(join(out, world, `${algorithm}_${size}.yaml`), HEAD + text.replace('lr: 0.000001', 'lr: 1e-6'))
    }
  }
}
