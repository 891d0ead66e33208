import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { tempDir } from '../support/temp-dir.js'
import { root } from './kit.js'
import { ALGORITHMS, SIZES, studyTable, WORLDS } from './r3l-table.js'

const folder = join(root, 'examples/R3L')
const files = WORLDS.flatMap((world) =>
  ALGORITHMS.flatMap((algorithm) => SIZES.map((size) => `${world}/${algorithm}_${size}`)),
)
const read = (file: string) => parse(readFileSync(join(folder, `${file}.yaml`), 'utf8'), { version: '1.1' })

describe('the files of the R3L study', () => {
  it('are 50', () => {
    const found = WORLDS.flatMap((world) => readdirSync(join(folder, world)).map((name) => `${world}/${name}`))
    expect(found.sort()).toEqual(files.map((file) => `${file}.yaml`).sort())
  })

  it.each(files)('%s has the values of the table', (file) => {
    const row = studyTable().get(file)
    if (!row) throw new Error(`the table has no ${file}`)
    const { algorithm, model, buffer, explorer, trainer, data_processor, ...rest } = read(file)
    const orNone = (value: unknown) => (value === undefined ? 'None' : String(value))
    const { taskset, eval_tasksets } = buffer.explorer_input
    expect({
      env: file.split('/')[0],
      stem: rest.name.replace(/_[\d.]+B$/, ''),
      algorithm: algorithm.algorithm_type,
      workflow: buffer.explorer_input.default_workflow_type,
      repeat: String(algorithm.repeat_times),
      kl: `${orNone(algorithm.kl_loss_fn)}/${orNone(algorithm.kl_loss_fn_args?.kl_coef)}`,
      loss: orNone(algorithm.policy_loss_fn),
      lossArgs: orNone(algorithm.policy_loss_fn_args),
      response: String(model.max_response_tokens),
      sequenceParallel: String(trainer.ulysses_sequence_parallel_size),
      tokens: String(trainer.max_token_len_per_gpu),
      seed: String(explorer.rollout_model.seed),
      engines: String(explorer.rollout_model.engine_num),
      runners: String(explorer.runner_per_model),
      filter: data_processor?.experience_pipeline.operators[0].name === 'OPMD_filter' ? 'F' : '-',
      warmup: orNone(algorithm.optimizer.lr_warmup_steps),
      // arguments of the original's code; where our data lie is no part of it
      args: 'None',
      model: model.model_path.match(/Qwen\/(.*)\}/)?.[1],
    }).toEqual(row)
    // what is the same in all files of the study (r3l.md, 2.9)
    expect([algorithm.optimizer.lr, buffer.batch_size, buffer.total_epochs]).toEqual([1e-6, 96, 20])
    expect([taskset.rollout_args.temperature, model.max_model_len]).toEqual([1, 20480])
    for (const set of eval_tasksets) expect(set.rollout_args).toEqual({ temperature: 0.4 })
    expect([explorer.eval_interval, trainer.save_interval, trainer.grad_clip]).toEqual([20, 30, 1])
    expect(rest.synchronizer).toEqual({
      sync_style: 'dynamic_by_explorer',
      sync_method: 'nccl',
      sync_interval: 1,
      sync_timeout: 12000,
    })
    expect(explorer.rollout_model).toMatchObject({
      tensor_parallel_size: 1,
      dtype: 'bfloat16',
      enable_prefix_caching: false,
      enable_chunked_prefill: true,
      gpu_memory_utilization: 0.7,
    })
    expect([rest.cluster, rest.monitor]).toEqual([{ node_num: 1, gpu_per_node: 8 }, { monitor_type: 'wandb' }])
    expect(buffer.trainer_input.experience_buffer).toMatchObject({
      storage_type: 'queue',
      replay_buffer: { enable: true, priority_fn: 'decay_limit_randomization' },
    })
  })

  it('evaluate mathematics on eight sets, and the others on one', () => {
    const sets = (world: string) => read(`${world}/grpo_7B`).buffer.explorer_input.eval_tasksets.length
    expect(WORLDS.map(sets)).toEqual([1, 1, 1, 8, 1])
  })

  it('are what the script makes', async () => {
    const out = await tempDir()
    execFileSync(process.execPath, [join(folder, 'make.mjs'), out], { cwd: root })
    const text = (base: string, file: string) => readFileSync(join(base, `${file}.yaml`), 'utf8')
    for (const file of files) expect(text(folder, file)).toBe(text(out, file))
  })
})
