import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { parseConfig } from '../config/load.js'
import { benchmarkYaml } from './configuration.js'
import { BENCHMARKS, templateOf } from './templates.js'

const run = { name: '20260101-120000', dir: '/runs/20260101-120000/checkpoints' }
const base = { nodes: 1, gpusPerNode: 8, ratio: 0.6 }
const yaml = (name: string, options: object = {}) => benchmarkYaml(templateOf(name), { ...base, ...options }, run)

describe('the configuration of a benchmark', () => {
  it.each(BENCHMARKS)('%s is one that can be read, in the folder of its run', (name) => {
    const [{ config }] = parseConfig(yaml(name), 'config.yaml').stages
    expect(config.checkpoint_root_dir).toBe(run.dir)
    expect(config.name).toMatch(/-20260101-120000$/)
    expect(config.cluster).toMatchObject({ node_num: 1, gpu_per_node: 8 })
  })

  it('puts every option where it belongs', () => {
    const options = {
      nodes: 2,
      gpusPerNode: 4,
      engines: 3,
      parallelSize: 2,
      engineType: 'sglang',
      lr: 2e-6,
      criticLr: 3e-6,
    }
    const paths = { modelPath: 'm', criticModelPath: 'c', tasksetPath: 't' }
    const sync = {
      syncInterval: 4,
      syncOffset: 1,
      syncStyle: 'explorer_driven',
      trainerStrategy: 'fsdp',
      monitor: 'wandb',
    }
    const made = parse(yaml('countdown', { ...options, ...paths, ...sync })) as Record<string, never>
    expect(made).toMatchObject({
      cluster: { node_num: 2, gpu_per_node: 4 },
      algorithm: { algorithm_type: 'ppo', repeat_times: 5, optimizer: { lr: 2e-6 } },
      model: { model_path: 'm', critic_model_path: 'c' },
      buffer: { total_steps: 1000, explorer_input: { taskset: { path: 't' } } },
      explorer: { rollout_model: { engine_num: 3, tensor_parallel_size: 2, engine_type: 'sglang' } },
      synchronizer: { sync_interval: 4, sync_offset: 1, sync_style: 'explorer_driven' },
      trainer: { trainer_strategy: 'fsdp', trainer_config: { critic: { optim: { lr: 3e-6 } } } },
      monitor: { monitor_type: 'wandb' },
    })
  })

  it('needs no GPU', () => {
    const made = parse(yaml('gsm8k', { gpusPerNode: 0 })) as Record<string, { rollout_model?: object }>
    expect(made.cluster).toBeUndefined()
    expect(made.explorer.rollout_model).toMatchObject({ engine_num: 1 })
  })

  it('refuses options of a critic where there is none', () => {
    expect(() => yaml('gsm8k', { criticLr: 1e-5 })).toThrow(/no critic/)
  })

  it('knows other spellings, and helps with wrong ones', () => {
    expect(templateOf('frozen_lake')).toBe(templateOf('frozenlake'))
    expect(() => templateOf('gsm9k')).toThrow(expect.objectContaining({ hint: 'did you mean gsm8k?' }))
  })
})
