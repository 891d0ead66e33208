import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { isFinished, planSweep } from './plan.js'
import { sweepSchema } from './spec.js'

const CONFIG = `
algorithm: {algorithm_type: grpo, repeat_times: 2}
model: {model_path: ./m, max_model_len: 64}
buffer: {batch_size: 2, total_steps: 3, explorer_input: {taskset: {name: t, path: ./t.jsonl, default_workflow_type: simple_workflow}}}
monitor: {monitor_type: none}
`

async function planOf(given: object, text = CONFIG) {
  const root = await tempDir()
  const config = join(root, 'c.yaml')
  writeFileSync(config, text)
  return planSweep(sweepSchema.parse({ name: 's', config, checkpoint_root_dir: root, ...given }), {})
}

describe('the plan of a sweep', () => {
  it('gives every run a folder of its own, its seed, and numbers to compare', async () => {
    const { dir, runs } = await planOf({ seeds: [3, 4], set: { 'algorithm.repeat_times': 4 } })
    expect(runs.map((run) => run.dir)).toEqual(['c-seed_3', 'c-seed_4'].map((id) => join(dir, id)))
    const { config } = runs[1]
    expect(config.checkpoint_job_dir).toBe(runs[1].dir)
    expect(config.explorer.rollout_model.seed).toBe(4)
    expect(config.buffer.explorer_input.tasksets[0].data_selector.seed).toBe(4)
    expect([config.algorithm.repeat_times, config.monitor.monitor_type]).toEqual([4, 'jsonl'])
  })

  it('puts seeds where it is told to', async () => {
    const { runs } = await planOf({ seeds: [5], seed_keys: ['explorer.rollout_model.seed'] })
    const { explorer, buffer } = runs[0].config
    expect([explorer.rollout_model.seed, buffer.explorer_input.tasksets[0].data_selector.seed]).toEqual([5, 42])
  })

  it('compares the last of several stages', async () => {
    const { runs } = await planOf({}, `${CONFIG}stages: [{stage_name: one}, {stage_name: two}]\n`)
    expect(runs[0].config.checkpoint_job_dir).toBe(join(runs[0].dir, 'two'))
  })

  it('refuses a key that nobody knows, and runs that do not train', async () => {
    await expect(planOf({ grid: { 'algorithm.optimzer.lr': [1] } })).rejects.toThrow('optimzer')
    await expect(planOf({ set: { mode: 'bench' } })).rejects.toThrow('mode bench trains nothing')
  })

  it('knows which runs are finished: those that got to the end that is asked for', async () => {
    const { runs } = await planOf({})
    expect(await isFinished(runs[0])).toBe(false)
    mkdirSync(runs[0].dir, { recursive: true })
    const goal = (steps: number) => JSON.stringify({ total_steps: steps, total_epochs: 1, trainer_total_steps: null })
    const write = (steps: number) =>
      writeFileSync(join(runs[0].dir, 'run_meta.json'), JSON.stringify({ finished: true, steps: 3, goal: goal(steps) }))
    write(2)
    expect(await isFinished(runs[0])).toBe(false)
    write(3)
    expect(await isFinished(runs[0])).toBe(true)
  })
})
