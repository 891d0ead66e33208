import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BASE, errorsOf, resolve, resolveAll } from '../../test/config-kit.js'
import { testData } from '../../test/support/test-data.js'
import { loadConfig } from './load.js'

const { path: documented, absent, note } = testData('documented')
const read = (file: string) => readFileSync(join(documented, file), 'utf8')
const env = { HOME: '/home/u' }

describe.skipIf(absent)(`files of the documentation${note}`, () => {
  const files = absent
    ? []
    : readdirSync(documented).filter((file) => /\.yaml$/.test(file) && !file.includes('fragment'))
  it.each(files)('%s loads and resolves', (file) => {
    expect(loadConfig(join(documented, file), { env }).stages).toHaveLength(1)
    const { stages, remarks } = resolveAll(read(file), { env })
    expect(stages[0].config.buffer.train_batch_size).toBeGreaterThan(0)
    expect(remarks.filter((one) => one.severity === 'warning').length).toBeLessThanOrEqual(1)
  })

  it('the numbers of ppo_example and grpo_example', () => {
    expect(resolve(read('ppo_example.yaml'), { env }).cluster).toMatchObject({
      rollout_gpu_num: 2,
      auxiliary_model_gpu_num: 2,
      trainer_gpu_num: 4,
    })
    const grpo = resolve(read('grpo_example.yaml'), { env })
    expect(grpo.cluster).toMatchObject({ rollout_gpu_num: 2, trainer_gpu_num: 6 })
    expect(grpo.explorer.eval_interval).toBe(4)
    expect(grpo.model.max_model_len).toBe(1024)
  })

  it('the SFT warm-up on top of gsm8k_grpo', () => {
    const [sft, rft, ...more] = resolveAll(read('gsm8k_grpo.yaml') + read('sft_warmup_stages_fragment.yaml'), {
      env,
    }).stages
    expect(more).toEqual([])
    expect(sft).toMatchObject({ name: 'sft_warmup', startsFrom: null })
    expect(sft.config.mode).toBe('train')
    expect(sft.config.algorithm).toMatchObject({
      algorithm_type: 'sft',
      policy_loss_fn: 'sft',
      advantage_fn: null,
      kl_loss_fn: 'none',
      optimizer: { lr: 1e-5 },
    })
    expect(sft.config.buffer).toMatchObject({ train_batch_size: 128, total_steps: 10 })
    expect(sft.config.buffer.trainer_input.experience_buffer).toMatchObject({
      name: 'sft_warmup_dataset',
      storage_type: 'file',
      path: '/PATH/TO/YOUR/SFT/DATASET',
      schema_type: 'sft',
    })
    expect(rft.name).toBe('rft')
    expect(rft.startsFrom).toBe(sft.config.checkpoint_job_dir)
    const outer = resolve(read('gsm8k_grpo.yaml'), { env })
    const moved = JSON.parse(JSON.stringify(outer).replaceAll('<experiment_name>', '<experiment_name>/rft'))
    expect(rft.config).toEqual(moved)
    expect(rft.config.name).toBe('<experiment_name>/rft')
  })
})

describe('stages', () => {
  const stages = (text: string) => resolveAll(BASE + text).stages
  it('merge deeply over the outer configuration', () => {
    const [one] = stages(
      'algorithm: {algorithm_type: grpo, optimizer: {lr: 1e-3, weight_decay: 0.5}}\nstages: [{stage_name: a, algorithm: {optimizer: {lr: 1e-4}}, buffer: {batch_size: 7}}]',
    )
    expect(one.config.algorithm.optimizer).toMatchObject({ lr: 1e-4, weight_decay: 0.5 })
    expect(one.config.buffer).toMatchObject({ batch_size: 7 })
    expect(one.config.buffer.explorer_input.tasksets[0].path).toBe('d')
    expect(one.config.checkpoint_job_dir).toBe('/w/Trinity-RFT/rft/a')
  })

  it('with another algorithm inherit no component of the outer one', () => {
    const outer =
      'algorithm: {algorithm_type: grpo, kl_loss_fn: k3, kl_loss_fn_args: {kl_coef: 0.01}, policy_loss_fn_args: {clip_range: 0.1}, loss_agg_mode: seq-mean-token-sum}\n'
    const [same, other] = stages(
      `${outer}stages: [{stage_name: a}, {stage_name: b, algorithm: {algorithm_type: dapo}}]`,
    )
    expect(same.config.algorithm).toMatchObject({
      kl_loss_fn: 'k3',
      kl_loss_fn_args: { kl_coef: 0.01 },
      policy_loss_fn_args: { clip_range: 0.1 },
    })
    expect(other.config.algorithm).toMatchObject({
      kl_loss_fn: 'none',
      policy_loss_fn_args: { clip_range: 0.2 },
      loss_agg_mode: 'token-mean',
    })
  })

  it('keep what they set themselves, and ignore null sections', () => {
    const [one] = stages(
      'algorithm: {algorithm_type: grpo, kl_loss_fn: k3}\nstages: [{stage_name: a, algorithm: {algorithm_type: grpo, kl_loss_fn: abs}, buffer: null, explorer: ~}]',
    )
    expect(one.config.algorithm.kl_loss_fn).toBe('abs')
  })

  it('replace the experience buffer as a whole', () => {
    const outer = 'stages: [{stage_name: a, buffer: {trainer_input: {experience_buffer: {storage_type: sql}}}}]'
    const text = `model: {model_path: m, max_model_len: 8}\nbuffer: {explorer_input: {taskset: {path: d, default_workflow_type: w}}, trainer_input: {experience_buffer: {name: out, capacity: 5}}}\n${outer}`
    const buffer = resolve(text).buffer.trainer_input.experience_buffer
    expect(buffer).toMatchObject({ name: 'experience_buffer', capacity: 10000, storage_type: 'sql' })
  })

  it('start from the last stage that trained, unless they name a model', () => {
    const run = stages(
      'stages: [{stage_name: a}, {stage_name: b, mode: bench}, {stage_name: c}, {stage_name: d, model: {model_path: other}}]',
    )
    expect(run.map((stage) => stage.startsFrom?.split('/').at(-1) ?? null)).toEqual([null, 'a', 'a', null])
  })

  it('that feed others save a checkpoint', () => {
    const run = stages('trainer: {save_hf_checkpoint: never}\nstages: [{stage_name: a}, {stage_name: b}]')
    expect(run.map((stage) => stage.config.trainer.save_hf_checkpoint)).toEqual(['last', 'never'])
  })

  it('report their problems at their own lines, once', () => {
    expect(
      errorsOf(() => resolveAll(`${BASE}stages:\n  - stage_name: a\n    bufer: {}\n  - mode: both\n`)),
    ).toMatchObject([
      { key: 'stages[0].bufer', mark: { line: 6, column: 5 }, hint: 'did you mean buffer?' },
      { key: 'stages[1].stage_name', code: 'missing', mark: { line: 7, column: 5 } },
    ])
    expect(errorsOf(() => resolveAll('stages: [{stage_name: a}, {stage_name: b}]')).map((one) => one.key)).toEqual([
      'model.model_path',
      'model.max_model_len',
      'buffer.explorer_input.taskset',
    ])
  })

  it('have names that can be folders, each once', () => {
    expect(
      errorsOf(() => stages('stages: [{stage_name: ../x}, {stage_name: a}, {stage_name: a}]')).map(
        (one) => one.message,
      ),
    ).toEqual(["the name has a '/' in it: ../x", 'there are two stages named a'])
  })

  it('an empty list is no stage', () => expect(stages('stages: []')).toMatchObject([{ name: null }]))
})
